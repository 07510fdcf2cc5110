"""The members of a pool and the alternatives to it, evaluated by folds while they may be taken."""

from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf

import numpy as np

from relevance_bayes.core.algorithms.task import ROWS_FOR_STARTS
from relevance_bayes.core.errors import DataError, NotPositiveDefiniteError
from relevance_bayes.core.fitting import FitLog
from relevance_bayes.core.folds import Split
from relevance_bayes.core.heteroscedastic import TwoFunctions, at_scales, heteroscedastic
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
from relevance_bayes.core.model import Model
from relevance_bayes.core.pooling.folds import FoldFit, PoolFolds, ProcessFolds
from relevance_bayes.core.pooling.members import FailedFit, MemberFit, Whole, learned_member
from relevance_bayes.core.pooling.reduction import Densities
from relevance_bayes.core.prediction import Measured, Prediction, predict
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.rows import FIT, Rows, Step, reported_as
from relevance_bayes.core.selection.alternatives import alternative_prediction
from relevance_bayes.core.selection.scoring import (
    BEHIND,
    MIN_STANDARD_ERRORS,
    NOT_FITTED,
    Compared,
    Validation,
    is_clearly_better,
    is_hopeless,
    standard_error,
)
from relevance_bayes.core.spec import Spec, is_heteroscedastic
from relevance_bayes.core.types import Array, Indices

PARTS = 5
"""Parts that the rows of a single fold are divided into, for weights from the other parts."""

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


@dataclass(frozen=True, eq=False)
class PoolEvaluation:
    """Predictions of n held-out rows of some folds.

    `splits` are (others, fold) pairs of rows, `rows` (n,) the folds one after the other, `t` (n,) their targets.
    `means` and `variances` (n, K) are of all members, NaN where a fit failed; `compared_models` (J, 6, n) are -log
    density, absolute error, coverage by the 95 % interval, and the outputs of `Measured`, NaN from the fold on where a
    model was left out; `reasons` (J,) are the reasons for that, None for those that were evaluated on all folds, and
    `left_out` (K,) those of members that were not, where there are any. `interval_losses` (J,) are -log of the
    probabilities (n,) of the intervals of `half_width` on either side of t, of models that are compared by them, and
    `bounded` (J,) is true for shares.
    """

    splits: tuple[Split, ...]
    rows: Indices
    t: Array
    means: Array
    variances: Array
    compared_models: Array
    reasons: tuple[str | None, ...] = ()
    left_out: tuple[str | None, ...] = ()
    half_width: float = HALF_UNIT
    interval_losses: tuple[Array | None, ...] = ()
    bounded: tuple[bool, ...] = ()

    def noise_varies(self, X: Array) -> bool:
        """True where the residuals of the pool of all members have noise that varies with the inputs X (N, d)."""
        if not len(self.complete):
            return False
        mean, sd = self._product
        return noise_varies(X[self.rows], mean, (self.t - mean) / sd)

    @property
    def has_heavy_tails(self) -> bool:
        """True where Student's t describes the residuals of the pool of all members clearly better."""
        if not len(self.complete):
            return False
        mean, sd = self._product
        return has_heavy_tails((self.t - mean) / sd)

    @property
    def _product(self) -> tuple[Array, Array]:
        """The means and sds of the pool of all complete members, each (n,)."""
        densities = self.densities.taken(self.complete)
        mean, variance = densities.product(densities.best_weights(self.t))
        return mean, np.sqrt(variance)

    def reaches_beyond(self, low: float, high: float) -> bool:
        """True where the central 95 % of more than MIN_BEYOND of the rows reach below `low` or above `high`."""
        if not len(self.complete):
            return False
        mean, sd = self._product
        return float(np.mean((mean - UPPER * sd < low) | (mean + UPPER * sd > high))) > MIN_BEYOND

    @property
    def dispersion(self) -> float:
        """The mean squared residual of the pool of all complete members over the mean of the targets: 1 of counts of
        Poisson's distribution, of which the means are known."""
        mean, _ = self._product
        return float(np.mean(np.square(self.t - mean)) / self.t.mean())

    @property
    def heaviest(self) -> int:
        """The index of the member of the greatest weight."""
        members = self.complete
        return int(members[self.densities.taken(members).best_weights(self.t).argmax()])

    @property
    def complete(self) -> Indices:
        """The indices (L,) of the members that were fitted in each fold; none where no row was measured."""
        if not len(self.t):
            return np.zeros(0, np.intp)
        return np.flatnonzero(np.isfinite(self.means).all(axis=0) & np.isfinite(self.variances).all(axis=0))

    def first(self, folds: int) -> "PoolEvaluation":
        """The evaluation by the first folds."""
        n = sum(len(fold) for _, fold in self.splits[:folds])
        means, variances = self.means[:n], self.variances[:n]
        return replace(
            self,
            splits=self.splits[:folds],
            rows=self.rows[:n],
            t=self.t[:n],
            means=means,
            variances=variances,
            compared_models=self.compared_models[:, :, :n],
        )

    def with_compared(self, figures: Array, reason: str | None, *, is_bounded: bool = False) -> "PoolEvaluation":
        """With one more compared model, of these figures (6, n), or the reason why it was left out.

        A seventh are its interval losses.
        """
        models = np.concatenate([self.compared_models, figures[None, :FIGURES]])
        losses = figures[FIGURES] if len(figures) > FIGURES else None
        return replace(
            self,
            compared_models=models,
            reasons=(*self.reasons, reason),
            interval_losses=(*self.interval_losses, losses),
            bounded=(*self.bounded, is_bounded),
        )

    def is_hopeless(self, figures: Array, needed: float = MIN_STANDARD_ERRORS) -> bool:
        """True where a model of these figures (6 or 7, m) of the first folds would hardly end `needed` standard errors
        above the pool.

        See `scoring.is_hopeless`; after the last fold none is.
        """
        sizes = np.cumsum([len(fold) for _, fold in self.splits])
        folds = int(np.searchsorted(sizes, figures.shape[1])) + 1
        if folds >= len(self.splits) or not len(self.complete):
            return False
        m = figures.shape[1]
        if len(figures) > FIGURES:
            return is_hopeless(self._interval_gain(figures[FIGURES]), folds / len(self.splits), needed)
        nll = np.minimum(figures[0], -min_log_density(self.t, self._best_member)[:m])
        losses = self._probability_loss if (figures[-1] > figures[-2]).any() else self._of_complete.each["nll"]
        return is_hopeless(losses[:m] - nll, folds / len(self.splits), needed)

    def gain_of(self, place: int) -> Array:
        """The gain of a compared model over the pool, (n,), in nats: of counts by the probability of whole numbers, of
        a hurdle by that of intervals of one width, since it has a probability of 0 and densities of all others."""
        by_interval = self._intervals(place)
        if by_interval is not None:
            return self._interval_gain(by_interval)
        alternative = self._compared_model(place)
        losses = self._probability_loss if alternative.is_of_counts else self._of_complete.each["nll"]
        return losses - alternative.each["nll"]

    def _intervals(self, place: int) -> Array | None:
        """The interval losses of a model that is compared by them."""
        return self.interval_losses[place] if place < len(self.interval_losses) else None

    def _interval_gain(self, losses: Array) -> Array:
        """The gain (m,) of a model of these losses of the first m rows."""
        lowest = min_log_density(self.t, half_width=self.half_width)[: len(losses)]
        return self._probability_loss[: len(losses)] - np.minimum(losses, -lowest)

    def mean_gain(self, place: int) -> tuple[float, float]:
        """The mean of `gain_of`, and its standard error."""
        gain = self.gain_of(place)
        return float(gain.mean()), standard_error(gain)

    @cached_property
    def _probability_loss(self) -> Array:
        """-log of the probability of the interval about each target, (n,), by the pool of all complete members, of
        whole numbers of one of length 1, which is comparable with that of a count; with weights from all rows, which
        favours the pool."""
        mean, sd = self._product
        lowest = min_log_density(self.t, half_width=self.half_width)
        return np.minimum(-log_probability(self.t, mean, np.square(sd), self.half_width), -lowest)

    @cached_property
    def _of_complete(self) -> Measured:
        """Of the pool of all complete members."""
        return self.only(self.complete).measured

    def only(self, members: Indices) -> "PoolEvaluation":
        """The evaluation of the members of these indices (L,)."""
        return replace(self, means=self.means[:, members], variances=self.variances[:, members])

    @property
    def densities(self) -> Densities:
        """The predictive densities of the members."""
        return Densities(self.means, self.variances)

    @property
    def _best_member(self) -> Array | None:
        """The greatest log density of each row (n,) by a complete member; None without one."""
        members = self.complete
        return self.densities.taken(members).of_members(self.t).max(axis=1) if len(members) else None

    @cached_property
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
        return Measured.joined(parts).clip(self._best_member)

    def alternative_validation(self, place: int) -> Validation:
        """The rows with the figures of an alternative."""
        return Validation.of(self._compared_model(place), self.rows)

    def _compared_model(self, place: int) -> Measured:
        """The figures of an alternative, its nll bounded as the pool's is."""
        nll, mae, inside, *outputs = self.compared_models[place]
        each = {"mae": mae, "nll": nll, "coverage_95": inside}
        return Measured(self.t, each, np.array(outputs)).clip(self._best_member)

    @property
    def best_alternative(self) -> int | None:
        """The alternative whose score is clearly above the pool's at no more than MAX_RMSE_RATIO times its error, the
        best of several; None without. Shares need only be hardly behind: see `_is_taken`."""
        computable = [
            place for place, found in enumerate(self.compared_models) if len(self.t) and np.isfinite(found).all()
        ]
        alternatives = {place: self._compared_model(place) for place in computable}
        members = self.complete
        if not len(members):
            return min(computable, key=lambda place: float(alternatives[place].each["nll"].mean()), default=None)
        if not computable:
            return None
        max_rmse = MAX_RMSE_RATIO * self._of_complete.scores()["rmse"]
        precise = [place for place in computable if alternatives[place].scores()["rmse"] <= max_rmse]
        gains = {place: self.gain_of(place) for place in precise}
        clear = [place for place, gain in gains.items() if self._is_taken(place, gain)]
        return max(clear, key=lambda place: float(gains[place].mean()), default=None)

    def _is_taken(self, place: int, gain: Array) -> bool:
        """True where a gain (n,) is clearly above 0, or that of shares within MAX_LOSS_OF_BOUNDED of it.

        They are compared only where intervals of the pool reach beyond the values that the target can have.
        """
        is_bounded = place < len(self.bounded) and self.bounded[place]
        return is_clearly_better(gain) or (
            is_bounded and float(gain.mean()) > -min(standard_error(gain), MAX_LOSS_OF_BOUNDED)
        )

    @property
    def first_or_clearly_better(self) -> int:
        """The last of the compared models whose log density is clearly above that of those taken before, of which the
        first is one."""
        taken, each = 0, [self._compared_model(place).each["nll"] for place in range(len(self.compared_models))]
        for place, nll in enumerate(each):
            gain = each[taken] - nll
            if np.isfinite(nll).all() and not gain.mean() <= MIN_STANDARD_ERRORS * standard_error(gain):
                taken = place
        return taken

    def compared(
        self, specs: Sequence[Spec], compared_models: Sequence[Spec], taken: int | None = None
    ) -> tuple[Compared, ...]:
        """All evaluated models, except the alternative that was taken."""
        if not len(self.t):
            return ()
        lowest = min_log_density(self.t, self._best_member)
        each, unit = self.densities.of_members(self.t), np.log(2.0 * self.half_width)
        if taken is not None and (self._compared_model(taken).is_of_counts or self._intervals(taken) is not None):
            each = log_probability(self.t[:, None], self.means, self.variances, self.half_width)
            # As of a hurdle: the probability of 0, the density of all others.
            each -= unit * (self.t > 0.0)[:, None]
        of_members = np.maximum(each, lowest[:, None]).mean(axis=0)
        each_interval = [self._intervals(place) for place in range(len(self.compared_models))]
        pairs = zip(self.compared_models[:, 0], each_interval, strict=True)
        losses = [density if intervals is None else intervals + unit for density, intervals in pairs]
        of_compared = [np.maximum(-one, lowest).mean() for one in losses]
        scores = [*zip(specs, of_members, strict=True), *zip(compared_models, of_compared, strict=True)]
        reasons = [*(self.left_out or (None for _ in specs)), *self.reasons]
        left_out = None if taken is None else len(specs) + taken
        return tuple(
            Compared(spec, float(score)) if np.isfinite(score) else _without_score(spec, reasons[place])
            for place, (spec, score) in enumerate(scores)
            if place != left_out
        )


def _without_score(spec: Spec, reason: str | None) -> Compared:
    return Compared(spec, None, reason or NOT_FITTED, computable=reason is not None)


def half_width(t: Array) -> float:
    """Half of the least target above 0 (N,), below which others may count as 0; of whole numbers 0.5, of none too."""
    above = t[t > 0.0]
    return HALF_UNIT if not len(above) or np.array_equal(t, np.round(t)) else 0.5 * float(above.min())


FIGURES = 6
"""The figures and outputs of a row by a compared model: see `PoolEvaluation.compared_models`."""

NOT_BEYOND = "hardly an interval of the folds reaches beyond the values that the target can have"
NOT_DISPERSED = "the residuals of the folds scatter as Poisson's distribution does"
DISPERSED = "the residuals of the folds scatter more than Poisson's distribution does"
NO_HEAVY_TAILS = "no heavy tails show in the residuals of the folds"
NO_VARYING_NOISE = "no noise that depends on the inputs shows in the residuals of the folds"


@dataclass(frozen=True, eq=False)
class PoolComparison:
    """The comparison of a pool with alternatives: its `folds` and its `evaluation` by them.

    `fits` are the alternatives that were fitted to all rows, by their index among the compared models, and `varying`
    those of heteroscedastic noise: of many rows their folds are predicted at the scales of all, as the pool's are.
    """

    folds: PoolFolds
    fit_log: FitLog
    evaluation: PoolEvaluation
    fits: dict[int, MemberFit] = field(default_factory=dict)
    varying: dict[Spec, TwoFunctions | None] = field(default_factory=dict)

    def run(
        self, specs: Sequence[Spec], compared_models: Sequence[Spec]
    ) -> Generator[Step, None, tuple[PoolEvaluation, Sequence[Spec]]]:
        """The evaluation with all alternatives, and these in its order.

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
            reason = None
            if isinstance(spec.likelihood, StudentT):
                reason = None if evaluation.has_heavy_tails else NO_HEAVY_TAILS
            elif spec.likelihood.targets in BOUNDS:
                reason = self._reason_against(spec.likelihood)
            if reason is not None:
                evaluation = evaluation.with_compared(self._not_fitted, reason)
            else:
                step = Step("alternatives", place, len(compared_models), "models")
                figures, reason = yield from reported_as(step, self._evaluated(place, spec))
                evaluation = evaluation.with_compared(figures, reason, is_bounded=_is_bounded(spec))
        if not varying:
            return evaluation, alternatives
        if not evaluation.noise_varies(self.folds.rows.X):
            return evaluation.with_compared(self._not_fitted, NO_VARYING_NOISE), [*alternatives, varying[0]]
        heaviest, step = evaluation.heaviest, Step("alternatives", len(alternatives), len(compared_models), "models")
        varying[0] = replace(specs[heaviest], likelihood=varying[0].likelihood)
        known: list[Array] = []
        if self.folds.is_unseen:
            for spec in varying:
                yield from reported_as(step, self._fit_to_all(spec, heaviest))
        if len(varying) > 1:
            for spec in varying:
                known.append((yield from reported_as(step, self._fold(0, spec, heaviest))))
            first = self.evaluation.first(1)
            first = replace(first, compared_models=np.array(known))
            place = first.first_or_clearly_better
            varying, known = [varying[place]], [known[place]]
        found = yield from reported_as(step, self._raced(varying[0], heaviest, None, known))
        return evaluation.with_compared(*found), [*alternatives, varying[0]]

    def _reason_against(self, likelihood: TargetLikelihood) -> str | None:
        """The reason for which counts, shares or a hurdle are not fitted, by the residuals of the pool; None where they
        are."""
        evaluation = self.evaluation
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

    def varying_model(self, spec: Spec) -> Generator[Step, None, Model | None]:
        """The alternative of heteroscedastic noise that was learned from all rows, after its other rounds; None where
        it was not learned."""
        found = self.varying.get(spec)
        if found is None:
            return None
        try:
            return (yield from heteroscedastic(self.folds.rows, spec, self.fit_log, after=found)).model
        except NotPositiveDefiniteError:
            return found.model

    @property
    def _not_fitted(self) -> Array:
        """The figures (FIGURES, n) of an alternative that has none."""
        return np.full((FIGURES, len(self.evaluation.t)), np.nan)

    def _evaluated(self, place: int, spec: Spec) -> Generator[Step, None, tuple[Array, str | None]]:
        """The figures (FIGURES, n) of an alternative, and the reason why it has none.

        A process with exact evidence is fitted to all rows first, and its folds start from there. It ends before
        that where its starts show that it can hardly be taken.
        """
        if not _has_exact_folds(spec):
            return (yield from self._raced(spec, 0, None, []))
        stop = self._reason_to_stop
        found = yield from learned_member(self.folds.rows, spec, None, self.fit_log, FIT, reason_to_stop=stop)
        if isinstance(found, FailedFit):
            return self._not_fitted, found.reason if found.is_behind else NOT_FITTED
        self.fits[place] = found
        own = ProcessFolds(self.folds.rows, found, self.folds.splits, self.folds.learns_anew)
        return (yield from self._raced(spec, 0, own, []))

    def _reason_to_stop(self, member: Whole) -> str | None:
        """BEHIND where the best start of an alternative is clearly worse than the pool's first process.

        Both predict each of the rows of the starts by the others; it is clearly behind.
        """
        first = self.folds.members[0]
        if not (isinstance(first, Whole) and member.has_started and len(self.evaluation.complete)):
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
    ) -> Generator[Step, None, tuple[Array, str | None]]:
        """The figures of the folds one after the other, of which the first are `known`, until it is hopeless."""
        total, tables = len(self.folds.splits), list(known)
        for number in range(total):
            if number >= len(tables):
                tables.append((yield from self._fold(number, spec, begin, own)))
            table = np.hstack(tables[: number + 1])
            reason = None
            if not np.isfinite(table).all():
                reason = NOT_FITTED
            elif self.evaluation.is_hopeless(table, -1.0 if _is_bounded(spec) else MIN_STANDARD_ERRORS):
                reason = BEHIND.format(number + 1, total)
            if reason is not None:
                return self._not_fitted, reason
        return np.hstack(tables) if tables else np.empty((FIGURES, 0)), None

    def _fold(
        self, number: int, spec: Spec, begin: int, own: ProcessFolds | None = None
    ) -> Generator[Step, None, Array]:
        """(FIGURES, f): an alternative on a fold, which may begin at the scales there of the member `begin`.

        Of a hurdle one figure more: see `PoolEvaluation.with_compared`.
        """
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


def _is_bounded(spec: Spec) -> bool:
    """True for shares, which are taken unless they are behind."""
    return spec.likelihood.targets == "share"


def _has_exact_folds(spec: Spec) -> bool:
    """True where the evidence of a process has a closed form."""
    likelihood = spec.likelihood
    is_exact = likelihood.is_conjugate and spec.model_likelihood.latents == 1
    return isinstance(spec.prior, GaussianProcess) and is_exact and not is_heteroscedastic(likelihood)
