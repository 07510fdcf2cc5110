"""One training of several processes as one model, judged and weighted by rows that were not learned from.

Each fold's other rows teach every member anew, scales and all; how these predict the fold decides the weights, whether
an alternative takes the pool's place, and the score that is reported. Then the members learn from all rows, and are
reduced to functions on rows.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from app.sparse_bayes.algorithms.greedy import with_more_jitter
from app.sparse_bayes.algorithms.state import State
from app.sparse_bayes.algorithms.task import ROWS_FOR_SCALES
from app.sparse_bayes.basis import KernelBasis, KernelFunctions
from app.sparse_bayes.errors import DataError, NotPositiveDefiniteError
from app.sparse_bayes.fitting import learned, pose
from app.sparse_bayes.folds import Split
from app.sparse_bayes.hyperparameters import Hyperparameters
from app.sparse_bayes.kernels import Kernel
from app.sparse_bayes.likelihoods.gaussian import RealPrediction
from app.sparse_bayes.marginal import LogEvidence
from app.sparse_bayes.model import Model
from app.sparse_bayes.pool import LearnedModel, Pool
from app.sparse_bayes.pooling.densities import Densities
from app.sparse_bayes.pooling.learning import Ordered, Whole, jitter, whole
from app.sparse_bayes.pooling.reduction import Reduction, reduced
from app.sparse_bayes.prediction import Measured, Prediction, Ready, predict
from app.sparse_bayes.priors import GaussianProcess
from app.sparse_bayes.scales import EvidencePerInputWidth
from app.sparse_bayes.selection.heteroscedastic import heteroscedastic
from app.sparse_bayes.selection.rows import Rows, Step
from app.sparse_bayes.selection.scoring import figures, standard_error
from app.sparse_bayes.selection.varying_noise import noise_varies
from app.sparse_bayes.spec import Spec, is_heteroscedastic
from app.sparse_bayes.trail import Trail
from app.sparse_bayes.types import Array, Indices

PARTS = 5
"""Into which rows that one training was measured on are cut, for weights from the other parts."""

MAX_ROWS_FOR_SCALES_IN_FOLDS = 700
"""Of more rows than all tell the scales: a fold then costs a third of the fit to all rows."""

NEXT_TO_NO_NOISE = 1e3
"""The targets' square over the noise's from which on the widths of one kernel mislead another's."""

MAX_SCORE_LOSS = 0.01
"""Nats a row of the pool's fold score that its reduction to few functions may lose, ..."""

MAX_PREDICTION_COST = 600_000.0
"""... unless a row's prediction would cost more multiply-adds: a request for one row then takes twice the CPU time that
it takes with 20 functions."""

CLEARLY = 2.0
"""Standard errors of the paired differences by which an alternative's fold score must be above the pool's."""

MAX_JITTER = 1e-4
"""Tenfold jitter is tried below this, then fewer functions."""

MIN_FUNCTIONS = 8
"""A training ends where rounding allows a member fewer than these."""

FIT = Step("fit", 0, None, "looks")


@dataclass(frozen=True)
class Member:
    """A process of the pool: its spec, its weight, how many functions it kept, and the evidence before that."""

    spec: Spec
    weight: float
    functions: int
    evidence: LogEvidence


@dataclass(frozen=True)
class Compared:
    """What was fitted and not taken: its mean log density of the folds' rows in nats, or why there is none.

    Some are not `computable` in floating point.
    """

    spec: Spec
    score: float | None
    reason: str | None = None
    computable: bool = True


@dataclass(frozen=True, eq=False)
class Pooled:
    """The model, the spec that stands for it, and what decided.

    `score` are the figures of the rows left out, by what was learned without them, before the reduction to few
    functions: `score_loss` is what that costs, in nats a row, and `unreduced` are the functions without it.
    """

    model: LearnedModel
    spec: Spec
    members: tuple[Member, ...]
    compared: tuple[Compared, ...]
    score: dict[str, float]
    score_loss: float
    unreduced: int


@dataclass(frozen=True)
class Lost:
    """A process that could not be learned, and why."""

    reason: str


Begun: TypeAlias = Whole | Lost


def pooled(
    rows: Rows,
    specs: Sequence[Spec],
    rivals: Sequence[Spec],
    splits: Sequence[Split],
    trail: Trail,
    *,
    max_score_loss: float = MAX_SCORE_LOSS,
) -> Generator[Step, None, Pooled]:
    """Learn a pool of the processes `specs` from N rows, or the one of `rivals` that the folds clearly prefer.

    The first of `specs` has a width for each input; `splits` are the folds. The pool loses at most `max_score_loss`
    nats a row by its reduction to few functions, within MAX_PREDICTION_COST. Raises NotPositiveDefiniteError where
    nothing can be fitted.
    """
    judgement, rivals = yield from _compare(rows, specs, rivals, splits, trail)
    best = judgement.best_rival
    if best is not None:
        model = yield from _rival(rows, rivals[best], specs[0], trail, needed=not len(judgement.sound))
        if model is not None:
            score = judgement.rival_score(best)
            others = judgement.compared(specs, rivals, best)
            return Pooled(model, rivals[best], (), others, score, 0.0, model.size)
    compared = judgement.compared(specs, rivals)
    sound = judgement.sound
    if not len(sound):
        model = yield from _sparse(rows, specs[0], None, trail, FIT)
        return Pooled(model, specs[0], (), compared, {}, 0.0, len(model.mean))
    begun = yield from _begun(rows, [specs[place] for place in sound], trail, FIT)
    yield FIT
    ordered = [one if isinstance(one, Lost) else _ordered(one) for one in begun]
    learned_again = [place for place, one in enumerate(ordered) if isinstance(one, Ordered)]
    if not learned_again:
        raise NotPositiveDefiniteError("; ".join(one.reason for one in ordered if isinstance(one, Lost)))
    judgement = judgement.only(sound[learned_again])
    sequences = [one for one in ordered if isinstance(one, Ordered)]
    members = [one.whole for one in sequences]
    reduction, models = yield from _reduced(sequences, judgement, max_score_loss, trail)
    kept = [members[place] for place in reduction.places]
    of_members = tuple(
        Member(one.spec, float(weight), len(model.mean), one.evidence)
        for one, weight, model in zip(kept, reduction.weights, models, strict=True)
    )
    pool = models[0] if len(models) == 1 else Pool(tuple(models), reduction.weights)
    spec = kept[int(reduction.weights.argmax())].spec
    unreduced = len(members) * len(rows.t)
    return Pooled(pool, spec, of_members, compared, figures(judgement.measured), reduction.loss, unreduced)


def _compare(
    rows: Rows, specs: Sequence[Spec], rivals: Sequence[Spec], splits: Sequence[Split], trail: Trail
) -> Generator[Step, None, tuple["_Judgement", Sequence[Spec]]]:
    """All of them judged by folds, and the rivals in their order there.

    Noise that is a function of the inputs comes last, and only where the residuals of the pool ask for it: about the
    function of the member that weighs most.
    """
    first = [one for one in rivals if not is_heteroscedastic(one.likelihood)]
    last = [one for one in rivals if is_heteroscedastic(one.likelihood)]
    judgement = yield from _judged(rows, specs, first, splits, trail)
    if not last:
        return judgement, first
    if not judgement.noise_varies(rows.X):
        unasked = np.full((len(last), 3, len(judgement.t)), np.nan)
        return replace(judgement, rivals=np.concatenate([judgement.rivals, unasked])), [*first, *last]
    best = specs[judgement.heaviest]
    last = [replace(best, likelihood=one.likelihood) for one in last]
    beside = yield from _judged(rows, (), last, splits, trail)
    joined = np.concatenate([judgement.rivals, beside.rivals])
    return replace(judgement, rivals=joined, asked=True), [*first, *last]


@dataclass(frozen=True, eq=False)
class _Judgement:
    """How n rows of some folds are predicted by what was learned without them.

    `splits` are (others, fold) pairs of rows, `rows` (n,) the folds one after the other, `t` (n,) their targets.
    `means` and `variances` (n, K) are of all members, NaN where one was lost; `rivals` (J, 3, n) are -log density,
    absolute error and whether the 95 % interval held. `asked` where residuals asked for noise that varies.
    """

    splits: tuple[Split, ...]
    rows: Indices
    t: Array
    means: Array
    variances: Array
    rivals: Array
    asked: bool = False

    def noise_varies(self, X: Array) -> bool:
        """Whether the residuals of the pool of all members ask for noise that is a function of the inputs X (N, d)."""
        members = self.sound
        if not len(members):
            return False
        densities = self.densities.taken(members)
        mean, variance = densities.product(densities.best_weights(self.t))
        return noise_varies(X[self.rows], mean, (self.t - mean) / np.sqrt(variance))

    @property
    def heaviest(self) -> int:
        """The place of the member of greatest weight."""
        members = self.sound
        return int(members[self.densities.taken(members).best_weights(self.t).argmax()])

    @property
    def sound(self) -> Indices:
        """The places of the members that no fold lost; none where no row was measured."""
        if not len(self.t):
            return np.zeros(0, np.intp)
        return np.flatnonzero(np.isfinite(self.means).all(axis=0) & np.isfinite(self.variances).all(axis=0))

    def only(self, members: Indices) -> "_Judgement":
        """That of some members."""
        return replace(self, means=self.means[:, members], variances=self.variances[:, members])

    @property
    def densities(self) -> Densities:
        """Those of the members."""
        return Densities(self.means, self.variances)

    @property
    def measured(self) -> Measured:
        """Of the pool of all members, each part of the rows with weights from the other parts: the folds, or PARTS of
        one."""
        parts, stop = list[Measured](), 0
        sizes = [len(fold) for _, fold in self.splits]
        places = [np.arange(stop, stop := stop + size) for size in sizes]
        for here in places if len(places) > 1 else np.array_split(places[0], min(PARTS, len(self.t))):
            others = np.setdiff1d(np.arange(len(self.t)), here)
            weights = self.densities.rows(others).best_weights(self.t[others])
            mean, variance = self.densities.rows(here).product(weights)
            none = np.zeros(len(here))
            parts.append(Measured.of(RealPrediction(mean, variance, none, none), self.t[here]))
        return Measured.joined(parts)

    def rival_score(self, place: int) -> dict[str, float]:
        """A rival's figures."""
        return figures(self._rival(place))

    def _rival(self, place: int) -> Measured:
        nll, mae, inside = self.rivals[place]
        return Measured(self.t, {"mae": mae, "nll": nll, "coverage_95": inside})

    @property
    def best_rival(self) -> int | None:
        """The rival whose score is clearly above the pool's, the best of several; None without."""
        sound = [place for place, found in enumerate(self.rivals) if len(self.t) and np.isfinite(found).all()]
        members = self.sound
        if not len(members):
            return min(sound, key=lambda place: float(self.rivals[place, 0].mean()), default=None)
        if not sound:
            return None
        pool = self.only(members).measured.each["nll"]
        gains = {place: pool - self.rivals[place, 0] for place in sound}
        clear = [place for place, gain in gains.items() if gain.mean() > CLEARLY * standard_error(gain)]
        return max(clear, key=lambda place: float(gains[place].mean()), default=None)

    def compared(self, specs: Sequence[Spec], rivals: Sequence[Spec], taken: int | None = None) -> tuple[Compared, ...]:
        """All that the folds judged, but for the rival that was taken."""
        if not len(self.t):
            return ()
        of_members = self.densities.of_members(self.t).mean(axis=0)
        of_rivals = -self.rivals[:, 0].mean(axis=1)
        told = [*zip(specs, of_members, strict=True), *zip(rivals, of_rivals, strict=True)]
        left_out = None if taken is None else len(specs) + taken
        return tuple(
            _compared(spec, float(score), asked=self.asked)
            for place, (spec, score) in enumerate(told)
            if place != left_out
        )


def _compared(spec: Spec, score: float, *, asked: bool) -> Compared:
    if np.isfinite(score):
        return Compared(spec, score)
    if is_heteroscedastic(spec.likelihood) and not asked:
        return Compared(spec, None, "no noise that depends on the inputs shows in the residuals of the folds")
    return Compared(spec, None, "could not be fitted to each fold", computable=False)


def _judged(
    rows: Rows, specs: Sequence[Spec], rivals: Sequence[Spec], splits: Sequence[Split], trail: Trail
) -> Generator[Step, None, _Judgement]:
    """Every member and rival learned from each fold's other rows, and measured on the fold."""
    tables = [np.empty((2 * len(specs) + 3 * len(rivals), 0))]
    yield Step("folds", 0, len(splits), "folds")
    for number, (others, fold) in enumerate(splits):
        table = trail.passed()
        if table is None:
            place = trail.begin()
            step = Step("folds", number, len(splits), "folds")
            table = yield from _fold(rows.take(others), rows.take(fold), specs, rivals, trail, step)
            trail.settle(place, table)
        tables.append(table)
        yield Step("folds", number + 1, len(splits), "folds")
    table, K = np.hstack(tables), len(specs)
    chosen = np.concatenate([np.zeros(0, np.intp), *(fold for _, fold in splits)])
    of_rivals = table[2 * K :].reshape(len(rivals), 3, len(chosen))
    return _Judgement(tuple(splits), chosen, rows.t[chosen], table[:K].T, table[K : 2 * K].T, of_rivals)


def _fold(
    others: Rows, fold: Rows, specs: Sequence[Spec], rivals: Sequence[Spec], trail: Trail, step: Step
) -> Generator[Step, None, Array]:
    """(2 K + 3 J, n): means of the fold's rows by the members, variances, and three figures of each rival."""
    nothing = np.full(len(fold.t), np.nan)
    most = MAX_ROWS_FOR_SCALES_IN_FOLDS if len(others.t) + len(fold.t) > ROWS_FOR_SCALES else None
    begun = yield from _begun(others, specs, trail, step, most)
    means, variances, figures = list[Array](), list[Array](), list[Array]()
    for member in begun:
        try:
            found = None if isinstance(member, Lost) else member.predict(fold.X, fold.noise_sd)
        except NotPositiveDefiniteError:
            found = None
        means.append(found.mean if isinstance(found, RealPrediction) else nothing)
        variances.append(found.variance if isinstance(found, RealPrediction) else nothing)
    first = begun[0] if begun else Lost("no process was learned")
    for rival in rivals:
        prediction = yield from _rival_prediction(others, fold, rival, first, trail, step)
        if prediction is None:
            figures += [nothing] * 3
        else:
            each = Measured.of(prediction, fold.t).each
            figures += [each["nll"], each["mae"], each["coverage_95"]]
    return np.array([*means, *variances, *figures])


def _begun(
    rows: Rows, specs: Sequence[Spec], trail: Trail, step: Step, most: int | None = None
) -> Generator[Step, None, list[Begun]]:
    """Each member with its scales learned, on so many rows at most.

    Those with a width for each input begin where the first ended; another kernel has starts of its own where that found
    next to no noise.
    """
    found: list[Begun] = []
    for spec in specs:
        first = found[0] if found else None
        begins = isinstance(first, Whole) and _widths_by_input(spec)
        if isinstance(first, Whole) and _kernel(spec) != _kernel(specs[0]):
            begins = begins and first.hyperparameters.beta * first.problem.square < NEXT_TO_NO_NOISE
        begin = first.hyperparameters if isinstance(first, Whole) and begins else None
        found.append((yield from _scaled(rows, spec, begin, trail, step, most)))
    return found


def _scaled(
    rows: Rows, spec: Spec, begin: Hyperparameters | None, trail: Trail, step: Step, most: int | None = None
) -> Generator[Step, None, Begun]:
    try:
        posed = pose(rows.X, rows.t, spec, noise_sd=rows.noise_sd)
        problem = replace(posed, begin=begin, max_rows_for_scales=most)
        for member in whole(problem, spec, trail):  # noqa: B007 - the last is the member
            yield step
    except (NotPositiveDefiniteError, DataError) as error:
        return Lost(str(error))
    return member


def _kernel(spec: Spec) -> Kernel | None:
    return next((one.kernel for one in spec.basis if isinstance(one, KernelBasis)), None)


def _widths_by_input(spec: Spec) -> bool:
    return any(isinstance(one, KernelBasis) and isinstance(one.width, EvidencePerInputWidth) for one in spec.basis)


def _rival_prediction(
    others: Rows, fold: Rows, rival: Spec, first: Begun, trail: Trail, step: Step
) -> Generator[Step, None, Prediction | None]:
    """What a rival learned of `others` predicts of the fold; None where it can't be learned."""
    try:
        if is_heteroscedastic(rival.likelihood):
            both = yield from heteroscedastic(others, rival, trail, step=step)
            return predict(both.model, fold.X)
        if isinstance(rival.prior, GaussianProcess):
            begun = yield from _scaled(others, rival, None, trail, step)
            return None if isinstance(begun, Lost) else begun.predict(fold.X, fold.noise_sd)
        model = yield from _sparse(others, rival, _lent(first), trail, step)
        return predict(model, fold.X, fold.noise_sd)
    except (NotPositiveDefiniteError, DataError):
        return None


def _rival(rows: Rows, rival: Spec, first: Spec, trail: Trail, *, needed: bool) -> Generator[Step, None, Model | None]:
    """A rival on all rows; one of independent weights has the input map of the process `first`.

    None where it is not computable; raises NotPositiveDefiniteError there if it is `needed`.
    """
    lent = None
    if not isinstance(rival.prior, GaussianProcess):
        lent = _lent((yield from _scaled(rows, first, None, trail, FIT)))
    try:
        if is_heteroscedastic(rival.likelihood):
            return (yield from heteroscedastic(rows, rival, trail)).model
        return (yield from _sparse(rows, rival, lent, trail, FIT))
    except NotPositiveDefiniteError:
        if needed:
            raise
        return None


def _lent(member: Begun) -> KernelFunctions | None:
    """Kernel functions with the input map that a process learned."""
    if isinstance(member, Lost):
        return None
    functions = member.task.functions
    return functions.moved(member.hyperparameters.input_map, functions.centres, functions.rows)


def _sparse(
    rows: Rows, spec: Spec, lent: KernelFunctions | None, trail: Trail, step: Step
) -> Generator[Step, None, Model]:
    """A fit to its end, from which predictions can be computed."""
    problem = pose(rows.X, rows.t, spec, inherited=lent, noise_sd=rows.noise_sd)
    begin: State | None = None
    while True:
        for now in trail.standings(problem, spec, begin):
            yield step if step.phase == "folds" else replace(step, completed=now.state.iteration)
        model = learned(problem, now)
        try:
            Ready.of(model)
        except NotPositiveDefiniteError as error:
            begin = with_more_jitter(now.state, error)
        else:
            return model


def _ordered(member: Whole) -> Ordered | Lost:
    try:
        return Ordered.of(member)
    except NotPositiveDefiniteError as error:
        return Lost(str(error))


def _reduced(
    ordered: Sequence[Ordered], judgement: _Judgement, max_score_loss: float, trail: Trail
) -> Generator[Step, None, tuple[Reduction, list[Model]]]:
    """The members that stay, through few functions, learned on from there together with all scales."""
    yield FIT
    reduction = reduced(
        ordered, judgement.densities, judgement.t, max_score_loss=max_score_loss, max_cost=MAX_PREDICTION_COST
    )
    models = []
    for place, size in zip(reduction.places, reduction.sizes, strict=True):
        models.append((yield from _through(ordered[place], size, trail)))
    return reduction, models


def _through(member: Ordered, functions: int, trail: Trail) -> Generator[Step, None, Model]:
    """A member through its first functions; with more jitter, then through fewer, where rounding asks for it."""
    problem, spec, added = member.whole.problem, member.whole.spec, jitter(member.whole.hyperparameters)
    while True:
        try:
            for now in trail.standings(problem, spec, member.through(functions, added)):
                state = now.state
                yield Step("fit", state.iteration, None, "looks", None, len(state.active))
            model = learned(problem, now)
            Ready.of(model)
        except NotPositiveDefiniteError:
            if functions < MIN_FUNCTIONS:
                raise
            if added < MAX_JITTER:
                added *= 10.0
            else:
                functions = functions * 3 // 4
        else:
            return model
