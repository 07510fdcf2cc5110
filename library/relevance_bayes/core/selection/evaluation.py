"""The members of a pool and the alternatives to it, evaluated by folds while they may be taken."""

from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf

import numpy as np

from relevance_bayes.core.algorithms.task import ROWS_FOR_STARTS
from relevance_bayes.core.errors import DataError, NotPositiveDefiniteError
from relevance_bayes.core.likelihoods import Hurdle, NegativeBinomial, Poisson, StudentT, TargetLikelihood
from relevance_bayes.core.likelihoods.base import UPPER, Targets
from relevance_bayes.core.likelihoods.gaussian import RealPrediction
from relevance_bayes.core.likelihoods.hurdle import HurdlePrediction
from relevance_bayes.core.log_density import (
    HALF_UNIT,
    has_heavy_tails,
    log_probability,
    min_log_density,
    noise_varies,
)
from relevance_bayes.core.models.fitting import FitLog
from relevance_bayes.core.models.heteroscedastic import TwoFunctions, at_scales, heteroscedastic
from relevance_bayes.core.models.model import Spec, is_heteroscedastic
from relevance_bayes.core.models.pooling.folds import FoldFit, PoolFolds, ProcessFolds
from relevance_bayes.core.models.pooling.members import FailedFit, MemberFit, Whole, learned_member
from relevance_bayes.core.models.pooling.reduction import Densities, MemberPredictions
from relevance_bayes.core.models.prediction import Measured, Prediction, predict
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.rows import FIT, Rows, Step, reported_as
from relevance_bayes.core.selection.candidates import alternative_fit, alternative_prediction
from relevance_bayes.core.selection.scoring import (
    BEHIND,
    MIN_STANDARD_ERRORS,
    NOT_FITTED,
    Compared,
    HeldOutFigures,
    Trained,
    is_clearly_better,
    is_hopeless,
    standard_error,
)
from relevance_bayes.core.types import Array, Indices

MAX_RMSE_RATIO = 1.1
"""The root mean square error of the folds over the pool's up to which an alternative is taken. Under Gaussian noise of
log t, the mean exp(m + v/2) of an outlying row may be any multiple of its target at little loss of log density; such
rows are few, so that no test of paired differences detects them."""


BOUNDS: dict[Targets, tuple[float, float]] = {"count": (0.0, inf), "share": (0.0, 1.0), "amount": (0.0, inf)}
"""The values of targets beyond which intervals of Gaussian noise are wrong, where that decides what is compared."""

MIN_BEYOND = 0.01
"""The share of rows whose intervals reach beyond the bounds above which counts, shares and hurdles are compared."""

MAX_LOSS_OF_BOUNDED = 0.05
"""Nats a row, and at most a standard error, that shares may be behind Gaussian noise whose intervals reach beyond what
they can be. An sd that is wrong by a fifth costs as much."""

MAX_DISPERSION = 1.3
"""The dispersion of residuals up to which Poisson's distribution is compared, and above which overdispersed counts are,
of which Poisson's distribution is a limit. Residuals have the errors of the means too, so that theirs is above 1."""


FIGURES = 6
"""The figures and outputs of a row by an alternative."""


@dataclass(frozen=True, eq=False)
class ComparedAlternative:
    """A model that is compared with a pool by n held-out rows.

    `table` (6, n) are -log density, absolute error, coverage by the 95 % interval, and the outputs of `Measured`, NaN
    where it could not be fitted; of one that is compared by intervals about the targets a seventh row is -log of their
    probability. It is None where a `reason` speaks against the model.
    """

    spec: Spec
    table: Array | None
    reason: str | None = None

    @property
    def intervals(self) -> Array | None:
        """-log of the probabilities (n,) of the intervals, of a model that is compared by them."""
        return None if self.table is None or len(self.table) <= FIGURES else self.table[FIGURES]

    @property
    def is_bounded(self) -> bool:
        """True for shares, which are taken unless they are behind."""
        return self.spec.likelihood.targets == "share"


@dataclass(frozen=True, eq=False)
class PoolEvaluation:
    """A pool and its alternatives by their predictions of n held-out rows.

    `left_out` (K,) are the reasons for which members were not evaluated, where there are any. `half_width` is that of
    the intervals about the targets by which models that have probabilities are compared with densities.
    """

    pool: MemberPredictions
    alternatives: tuple[ComparedAlternative, ...] = ()
    left_out: tuple[str | None, ...] = ()
    half_width: float = HALF_UNIT

    def noise_varies(self, X: Array) -> bool:
        """True where the residuals of the pool of all members have noise that varies with the inputs X (N, d)."""
        if not len(self.pool.complete):
            return False
        mean, sd = self.pool.product
        return noise_varies(X[self.pool.rows], mean, (self.pool.t - mean) / sd)

    @property
    def has_heavy_tails(self) -> bool:
        """True where Student's t describes the residuals of the pool of all members clearly better."""
        if not len(self.pool.complete):
            return False
        mean, sd = self.pool.product
        return has_heavy_tails((self.pool.t - mean) / sd)

    def reaches_beyond(self, low: float, high: float) -> bool:
        """True where the central 95 % of more than MIN_BEYOND of the rows reach below `low` or above `high`."""
        if not len(self.pool.complete):
            return False
        mean, sd = self.pool.product
        return float(np.mean((mean - UPPER * sd < low) | (mean + UPPER * sd > high))) > MIN_BEYOND

    @property
    def dispersion(self) -> float:
        """The mean squared residual of the pool of all complete members over the mean of the targets: 1 of counts of
        Poisson's distribution, of which the means are known."""
        mean, _ = self.pool.product
        return float(np.mean(np.square(self.pool.t - mean)) / self.pool.t.mean())

    def with_compared(self, *alternatives: ComparedAlternative) -> "PoolEvaluation":
        """With these alternatives after those before."""
        return replace(self, alternatives=(*self.alternatives, *alternatives))

    def is_hopeless(self, one: ComparedAlternative) -> bool:
        """True where a model of a table (6 or 7, m) of the first folds would hardly end clearly above the pool, or
        shares a standard error below it.

        See `scoring.is_hopeless`; after the last fold none is.
        """
        assert one.table is not None
        m, needed = one.table.shape[1], -1.0 if one.is_bounded else MIN_STANDARD_ERRORS
        sizes = np.cumsum([len(fold) for _, fold in self.pool.splits])
        folds = int(np.searchsorted(sizes, m)) + 1
        if folds >= len(self.pool.splits) or not len(self.pool.complete):
            return False
        if one.intervals is not None:
            return is_hopeless(self._interval_gain(one.intervals), folds / len(self.pool.splits), needed)
        nll = np.minimum(one.table[0], -min_log_density(self.pool.t, self.pool.best_member)[:m])
        is_of_counts = (one.table[FIGURES - 1] > one.table[FIGURES - 2]).any()
        losses = self._probability_loss if is_of_counts else self._of_complete.each["nll"]
        return is_hopeless(losses[:m] - nll, folds / len(self.pool.splits), needed)

    def gain_of(self, place: int) -> Array:
        """The gain of an alternative over the pool, (n,), in nats: of counts by the probability of whole numbers, of a
        hurdle by that of intervals of one width, since it has a probability of 0 and densities of all others."""
        one = self.alternatives[place]
        if one.intervals is not None:
            return self._interval_gain(one.intervals)
        measured = self._measured(one)
        losses = self._probability_loss if measured.is_of_counts else self._of_complete.each["nll"]
        return losses - measured.each["nll"]

    def mean_gain(self, place: int) -> tuple[float, float]:
        """The mean of `gain_of`, and its standard error."""
        gain = self.gain_of(place)
        return float(gain.mean()), standard_error(gain)

    def _interval_gain(self, losses: Array) -> Array:
        """The gain (m,) of a model of these losses of the first m rows."""
        lowest = min_log_density(self.pool.t, half_width=self.half_width)[: len(losses)]
        return self._probability_loss[: len(losses)] - np.minimum(losses, -lowest)

    @cached_property
    def _probability_loss(self) -> Array:
        """-log of the probability of the interval about each target, (n,), by the pool of all complete members, of
        whole numbers of one of length 1, which is comparable with that of a count; with weights from all rows, which
        favours the pool."""
        mean, sd = self.pool.product
        lowest = min_log_density(self.pool.t, half_width=self.half_width)
        return np.minimum(-log_probability(self.pool.t, mean, np.square(sd), self.half_width), -lowest)

    @cached_property
    def _of_complete(self) -> Measured:
        """Of the pool of all complete members."""
        return self.pool.only(self.pool.complete).measured

    def validation(self, place: int) -> HeldOutFigures:
        """The rows with the figures of an alternative."""
        return HeldOutFigures.of(self._measured(self.alternatives[place]), self.pool.rows)

    def _measured(self, one: ComparedAlternative) -> Measured:
        """The figures of an alternative, its nll bounded as the pool's is."""
        assert one.table is not None
        nll, mae, inside, *outputs = one.table[:FIGURES]
        each = {"mae": mae, "nll": nll, "coverage_95": inside}
        return Measured(self.pool.t, each, np.array(outputs)).clip(self.pool.best_member)

    @property
    def best_alternative(self) -> int | None:
        """The alternative whose score is clearly above the pool's at no more than MAX_RMSE_RATIO times its error, the
        best of several; None without. Shares need only be hardly behind: see MAX_LOSS_OF_BOUNDED."""
        found = {
            place: self._measured(one)
            for place, one in enumerate(self.alternatives)
            if len(self.pool.t) and one.table is not None and np.isfinite(one.table[:FIGURES]).all()
        }
        if not len(self.pool.complete):
            return min(found, key=lambda place: float(found[place].each["nll"].mean()), default=None)
        if not found:
            return None
        max_rmse, gains = MAX_RMSE_RATIO * self._of_complete.scores()["rmse"], dict[int, Array]()
        for place, one in found.items():
            if one.scores()["rmse"] <= max_rmse:
                gain, is_bounded = self.gain_of(place), self.alternatives[place].is_bounded
                max_loss = min(standard_error(gain), MAX_LOSS_OF_BOUNDED)
                if is_clearly_better(gain) or (is_bounded and float(gain.mean()) > -max_loss):
                    gains[place] = gain
        return max(gains, key=lambda place: float(gains[place].mean()), default=None)

    @property
    def first_or_clearly_better(self) -> int:
        """The last of the alternatives whose log density is clearly above that of those taken before, of which the
        first is one."""
        taken, each = 0, [self._measured(one).each["nll"] for one in self.alternatives]
        for place, nll in enumerate(each):
            gain = each[taken] - nll
            if np.isfinite(nll).all() and not gain.mean() <= MIN_STANDARD_ERRORS * standard_error(gain):
                taken = place
        return taken

    def compared(self, specs: Sequence[Spec], taken: int | None = None) -> tuple[Compared, ...]:
        """The members, of these specs, and all alternatives except that which was taken."""
        if not len(self.pool.t):
            return ()
        lowest = min_log_density(self.pool.t, self.pool.best_member)
        each, unit = self.pool.densities.of_members(self.pool.t), np.log(2.0 * self.half_width)
        best = None if taken is None else self.alternatives[taken]
        if best is not None and (best.intervals is not None or self._measured(best).is_of_counts):
            densities = self.pool.densities
            each = log_probability(self.pool.t[:, None], densities.means, densities.variances, self.half_width)
            # As of a hurdle: the probability of 0, the density of all others.
            each -= unit * (self.pool.t > 0.0)[:, None]
        of_members = np.maximum(each, lowest[:, None]).mean(axis=0)
        left_out = self.left_out or (None for _ in specs)
        found = [_compared(*one) for one in zip(specs, of_members, left_out, strict=True)]
        for one in self.alternatives:
            if one is not best:
                losses = np.full(1, np.nan) if one.table is None else one.table[0]
                losses = losses if one.intervals is None else one.intervals + unit
                found.append(_compared(one.spec, np.maximum(-losses, lowest).mean(), one.reason))
        return tuple(found)


def _compared(spec: Spec, score: float, reason: str | None) -> Compared:
    if np.isfinite(score):
        return Compared(spec, float(score))
    return Compared(spec, None, reason or NOT_FITTED, computable=reason is not None)


def half_width(t: Array) -> float:
    """Half of the least target above 0 (N,), below which others may count as 0; of whole numbers 0.5, of none too."""
    above = t[t > 0.0]
    return HALF_UNIT if not len(above) or np.array_equal(t, np.round(t)) else 0.5 * float(above.min())


NOT_BEYOND = "hardly an interval of the folds reaches beyond the values that the target can have"
NOT_DISPERSED = "the residuals of the folds scatter as Poisson's distribution does"
DISPERSED = "the residuals of the folds scatter more than Poisson's distribution does"
NO_HEAVY_TAILS = "no heavy tails show in the residuals of the folds"
NO_VARYING_NOISE = "no noise that depends on the inputs shows in the residuals of the folds"


@dataclass(frozen=True, eq=False)
class PoolComparison:
    """The comparison of a pool with alternatives: its `folds` and its `evaluation` by them.

    `fits` are the alternatives that were fitted to all rows, and `varying` those of heteroscedastic noise: of many rows
    their folds are predicted at the scales of all, as the pool's are.
    """

    folds: PoolFolds
    fit_log: FitLog
    evaluation: PoolEvaluation
    fits: dict[Spec, MemberFit] = field(default_factory=dict)
    varying: dict[Spec, TwoFunctions | None] = field(default_factory=dict)

    def run(self, specs: Sequence[Spec], compared_models: Sequence[Spec]) -> Generator[Step, None, PoolEvaluation]:
        """The evaluation with all alternatives to a pool of these specs.

        Student's t is evaluated only where the residuals of the pool have heavy tails, counts, shares and hurdles where
        its intervals reach beyond what these can be: see `_reason_against`. Heteroscedastic noise is last, and only
        where the residuals of the pool vary with the inputs. The first such model has the spec of the member of the
        greatest weight. Of several only one is evaluated on all folds: one that predicts the first fold clearly better
        than those before it, else the first.
        """
        alternatives = [one for one in compared_models if not is_heteroscedastic(one.likelihood)]
        varying = [one for one in compared_models if is_heteroscedastic(one.likelihood)]
        evaluation = self.evaluation
        for place, spec in enumerate(alternatives):
            found = ComparedAlternative(spec, None, self._reason_against(spec.likelihood))
            if found.reason is None:
                step = Step("alternatives", place, len(compared_models), "models")
                found = yield from reported_as(step, self._evaluated(spec))
            evaluation = evaluation.with_compared(found)
        if not varying:
            return evaluation
        if not evaluation.noise_varies(self.folds.rows.X):
            return evaluation.with_compared(ComparedAlternative(varying[0], None, NO_VARYING_NOISE))
        heaviest = evaluation.pool.heaviest
        step = Step("alternatives", len(alternatives), len(compared_models), "models")
        varying[0] = replace(specs[heaviest], likelihood=varying[0].likelihood)
        if self.folds.is_unseen:
            for spec in varying:
                yield from reported_as(step, self._fit_to_all(spec, heaviest))
        known: list[Array] = []
        if len(varying) > 1:
            for spec in varying:
                known.append((yield from reported_as(step, self._fold(0, spec, heaviest))))
            first = PoolEvaluation(self.evaluation.pool.first(1), tuple(map(ComparedAlternative, varying, known)))
            place = first.first_or_clearly_better
            varying, known = [varying[place]], [known[place]]
        return evaluation.with_compared((yield from reported_as(step, self._raced(varying[0], heaviest, None, known))))

    def expected(self, compared_models: Sequence[Spec]) -> tuple[int, ...]:
        """The numbers of the alternatives that the residuals of the evaluation decide on, and would have compared."""
        others = [one.likelihood for one in compared_models if not is_heteroscedastic(one.likelihood)]
        by_residuals = [isinstance(one, StudentT) or one.targets in BOUNDS for one in others]
        places = [place for place, one in enumerate(others) if by_residuals[place] and not self._reason_against(one)]
        varies = len(others) < len(compared_models) and self.evaluation.noise_varies(self.folds.rows.X)
        return (*places, len(others)) if varies else tuple(places)

    def _reason_against(self, likelihood: TargetLikelihood) -> str | None:
        """The reason for which heavy tails, counts, shares or a hurdle are not fitted, by the residuals of the pool;
        None where they are."""
        evaluation = self.evaluation
        if isinstance(likelihood, StudentT):
            return None if evaluation.has_heavy_tails else NO_HEAVY_TAILS
        if likelihood.targets not in BOUNDS:
            return None
        if not evaluation.reaches_beyond(*BOUNDS[likelihood.targets]):
            return NOT_BEYOND
        is_dispersed = evaluation.dispersion > MAX_DISPERSION
        if isinstance(likelihood, Poisson) and is_dispersed:
            return DISPERSED
        return NOT_DISPERSED if isinstance(likelihood, NegativeBinomial) and not is_dispersed else None

    def _fit_to_all(self, spec: Spec, heaviest: int) -> Generator[Step, None, None]:
        """Learn both functions of an alternative of heteroscedastic noise from all rows in one round."""
        begin = self.folds.members[heaviest]
        first = begin.hyperparameters if isinstance(begin, Whole) else None
        self.varying[spec] = None
        with suppress(NotPositiveDefiniteError, DataError):
            fit = heteroscedastic(self.folds.rows, spec, self.fit_log, begin=first, max_rounds=1, grows=False)
            self.varying[spec] = yield from fit

    def fit(self, spec: Spec) -> Generator[Step, None, Trained]:
        """An alternative on all rows, which begins where its folds did; raises NotPositiveDefiniteError."""
        whole, rows = self.varying.get(spec), self.folds.rows
        if whole is not None:
            try:
                return Trained((yield from heteroscedastic(rows, spec, self.fit_log, after=whole)).model, spec)
            except NotPositiveDefiniteError:
                return Trained(whole.model, spec)
        begins_at_heaviest = is_heteroscedastic(spec.likelihood) and len(self.evaluation.pool.complete) > 0
        begin = self.fits.get(spec, self.folds.members[self.evaluation.pool.heaviest if begins_at_heaviest else 0])
        return (yield from alternative_fit(rows, spec, begin, self.fit_log, FIT))

    def _evaluated(self, spec: Spec) -> Generator[Step, None, ComparedAlternative]:
        """An alternative with its figures, or the reason why it has none.

        A process with exact evidence is fitted to all rows first, and its folds start from there. It ends before
        that where its starts show that it can hardly be taken.
        """
        has_exact_folds = spec.likelihood.is_conjugate and spec.model_likelihood.latents == 1
        if not has_exact_folds or not isinstance(spec.prior, GaussianProcess):
            return (yield from self._raced(spec, 0, None, []))
        stop = self._reason_to_stop
        found = yield from learned_member(self.folds.rows, spec, None, self.fit_log, FIT, reason_to_stop=stop)
        if isinstance(found, FailedFit):
            return ComparedAlternative(spec, None, found.reason if found.is_behind else NOT_FITTED)
        self.fits[spec] = found
        own = ProcessFolds(self.folds.rows, found, self.folds.splits, self.folds.learns_anew)
        return (yield from self._raced(spec, 0, own, []))

    def _reason_to_stop(self, member: Whole) -> str | None:
        """BEHIND where the best start of an alternative is clearly worse than the pool's first process.

        Both predict each of the rows of the starts by the others; it is clearly behind.
        """
        first = self.folds.members[0]
        if not (isinstance(first, Whole) and member.has_started and len(self.evaluation.pool.complete)):
            return None
        numbers, rows = member.problem.sample(ROWS_FOR_STARTS).numbers, self.folds.rows
        try:
            both = [ProcessFolds(rows, one, ()).each_left_out(numbers) for one in (first, member)]
        except NotPositiveDefiniteError:
            return None
        before, after = (Measured.of(one, rows.t[numbers]).each["nll"] for one in both)
        return BEHIND.format(0, len(self.folds.splits)) if is_clearly_better(after - before) else None

    def _raced(
        self, spec: Spec, begin: int, own: ProcessFolds | None, known: list[Array]
    ) -> Generator[Step, None, ComparedAlternative]:
        """The figures of the folds one after the other, of which the first are `known`, until it is hopeless."""
        total, tables = len(self.folds.splits), list(known)
        for number in range(total):
            if number >= len(tables):
                tables.append((yield from self._fold(number, spec, begin, own)))
            table = np.hstack(tables[: number + 1])
            if not np.isfinite(table).all():
                return ComparedAlternative(spec, None, NOT_FITTED)
            if self.evaluation.is_hopeless(ComparedAlternative(spec, table)):
                return ComparedAlternative(spec, None, BEHIND.format(number + 1, total))
            yield replace(FIT, share=(number + 1) / total)
        return ComparedAlternative(spec, np.hstack(tables) if tables else np.empty((FIGURES, 0)))

    def _fold(
        self, number: int, spec: Spec, begin: int, own: ProcessFolds | None = None
    ) -> Generator[Step, None, Array]:
        """The table of an alternative on a fold, which may begin at the scales there of the member `begin`."""
        table = self.fit_log.recorded()
        if table is not None:
            return table
        place, total = self.fit_log.begin(), len(self.folds.splits)
        others, fold = self.folds.splits[number]
        step, left_out = Step("folds", total, total, "folds"), self.folds.rows.take(fold)
        if own is not None:
            fit = yield from own.fit(number, None, self.fit_log, step)
            prediction = fit.prediction if isinstance(fit, FoldFit) else None
        elif spec in self.varying:
            prediction = yield from self._at_scales(others, left_out, spec)
        else:
            process = yield from self.folds.process(number, begin, FitLog(), step)
            prediction = yield from alternative_prediction(
                self.folds.rows.take(others), left_out, spec, process, self.fit_log, step
            )
        table = np.full((FIGURES + isinstance(spec.likelihood, Hurdle), len(fold)), np.nan)
        if prediction is not None:
            one = Measured.of(prediction, left_out.t)
            table[:FIGURES] = one.each["nll"], one.each["mae"], one.each["coverage_95"], *one.outputs
            if isinstance(prediction, HurdlePrediction):
                table[FIGURES] = -prediction.log_probability(left_out.t, self.evaluation.half_width)
        self.fit_log.record(place, table)
        return table

    def _at_scales(self, others: Indices, fold: Rows, spec: Spec) -> Generator[Step, None, Prediction | None]:
        """The prediction of a fold by an alternative of heteroscedastic noise at its scales of all rows."""
        whole = self.varying[spec]
        if whole is None:
            return None
        try:
            return predict((yield from at_scales(self.folds.rows, others, spec, whole)), fold.X)
        except (NotPositiveDefiniteError, DataError):
            return None


def announced(folds: PoolFolds, compared_models: Sequence[Spec]) -> tuple[int, ...]:
    """The numbers of the alternatives, among those that residuals decide on, which will probably be compared.

    Before the folds are computed the residuals are those of the first member, of which each row is predicted by the
    others: progress plans by them, and nothing else follows from them.
    """
    first = folds.each[0] if compared_models else None
    with suppress(NotPositiveDefiniteError, DataError):
        found = None if first is None else first.each_left_out(first.numbers)
        if first is not None and isinstance(found, RealPrediction):
            densities = Densities(found.mean[:, None], found.variance[:, None])
            pool = MemberPredictions((), first.numbers, folds.rows.t[first.numbers], densities)
            return PoolComparison(folds, FitLog(), PoolEvaluation(pool)).expected(compared_models)
    return ()
