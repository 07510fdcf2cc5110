"""The choice among alternative models of classes by the log loss of held-out rows.

All choices are repeated on each fold's training rows: scales, functions and weights. The alternative of the smallest
mean log loss is taken, at the temperature fitted to the same rows, and fitted once more to all rows.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from relevance_bayes.core.algorithms.task import MAX_PIVOTS, ROWS_FOR_SCALES
from relevance_bayes.core.basis import KernelBasis
from relevance_bayes.core.errors import DataError, NotPositiveDefiniteError
from relevance_bayes.core.fit_log import FitLog
from relevance_bayes.core.folds import Split
from relevance_bayes.core.likelihoods.predictive import ClassPrediction
from relevance_bayes.core.likelihoods.temperature import fitted_temperature, tempered
from relevance_bayes.core.numpy_namespace import NUMPY
from relevance_bayes.core.pool import ready_of
from relevance_bayes.core.prediction import Measured
from relevance_bayes.core.scales import EvidencePerInputWidth
from relevance_bayes.core.selection.classes import FittedClasses, learns_temperature
from relevance_bayes.core.selection.rows import Rows, Step
from relevance_bayes.core.selection.scoring import Compared, Validation
from relevance_bayes.core.spec import Spec
from relevance_bayes.core.types import Array, Indices

Learn = Callable[[Rows, Spec], Generator[Step, None, FittedClasses]]
"""The fit of an alternative to some rows, at temperature 1."""

MIN_FOLDS = 3
"""The folds by which all alternatives are compared where five are beyond the budget."""

MIN_ROWS_TO_DROP = 1_000
"""With fewer rows no alternative is dropped before all folds are measured."""

MIN_STANDARD_ERRORS = 2.0
"""Standard errors of the paired differences by which an alternative is worse than the best when it is dropped."""

EVALUATIONS, EVALUATIONS_PER_INPUT = 75, 105
"""The most evaluations of the evidence while scales are learned: of one width, and of one per input from three
starts."""

DROPPED = np.inf
"""The value in place of the probabilities of a dropped alternative; NaN is that of one that could not be fitted."""

NOT_FITTED = "Its matrices were not positive definite in floating point in a fold."
BEHIND = "After {0} of {1} folds it was behind by more than two standard errors."
UNAFFORDABLE = "Its folds are beyond what the effort allows."
NOT_FITTED_TO_ALL = "Its matrices were not positive definite in floating point on all rows."


@dataclass(frozen=True, eq=False)
class Chosen:
    """The chosen fit to all rows, its spec, and the comparison.

    `temperature` is None where folds could not determine it. `validation` are the figures of the held-out rows of
    `folds` of `total` folds; empty without.
    """

    fitted: FittedClasses
    spec: Spec
    temperature: float | None
    compared: tuple[Compared, ...]
    validation: Validation
    folds: int
    total: int


def chosen(
    rows: Rows, specs: Sequence[Spec], splits: Sequence[Split], learn: Learn, fit_log: FitLog, *, budget: float | None
) -> Generator[Step, None, Chosen]:
    """Choose one of the alternatives `specs` by the folds `splits` and fit it to rows with classes t (N,).

    Beyond `budget`, in the work of `Bounds`, folds are left out first, then all alternatives but the first. An
    alternative that can't be fitted is reported with the reason. Raises NotPositiveDefiniteError where none can.
    """
    splits = [(others, fold) for others, fold in splits if len(np.unique(rows.t[others])) > 1]
    plan = Comparison(len(specs), len(splits)) if budget is None else affordable(rows, specs, splits, budget)
    table = yield from _tables(rows, specs[: plan.alternatives], splits[: plan.folds], learn, fit_log)
    evaluation = FoldEvaluation(
        rows.t, tuple(splits[: plan.folds]), table, learns_temperature=learns_temperature(specs[0])
    )
    reasons: dict[int, str] = dict.fromkeys(range(plan.alternatives, len(specs)), UNAFFORDABLE)
    reasons |= {place: reason for place in range(plan.alternatives) if (reason := evaluation.reason(place)) is not None}
    for place in evaluation.ranked(len(specs)):
        try:
            fitted = yield from learn(rows, specs[place])
        except NotPositiveDefiniteError:
            reasons[place] = NOT_FITTED_TO_ALL
            continue
        compared = tuple(
            _compared(spec, evaluation.score(other), reasons.get(other))
            for other, spec in enumerate(specs)
            if other != place and (evaluation.n_rows or other in reasons)
        )
        validation, temperature = evaluation.validation(place), evaluation.temperature(place)
        return Chosen(fitted, specs[place], temperature, compared, validation, plan.folds, len(splits))
    raise NotPositiveDefiniteError(f"none of {len(specs)} alternatives could be fitted: {NOT_FITTED_TO_ALL}")


def _compared(spec: Spec, score: float | None, reason: str | None) -> Compared:
    return Compared(spec, score, reason, computable=reason not in {NOT_FITTED, NOT_FITTED_TO_ALL})


@dataclass(frozen=True)
class Comparison:
    """The numbers of alternatives (the first ones) and of folds that are compared."""

    alternatives: int
    folds: int


def affordable(rows: Rows, specs: Sequence[Spec], splits: Sequence[Split], budget: float) -> Comparison:
    """The comparison that `budget` allows: all alternatives by all folds, or by MIN_FOLDS; else the first by either;
    else none."""
    each = [work(spec, len(rows.t)) for spec in specs]
    for alternatives in (len(specs), 1):
        for folds in (len(splits), min(MIN_FOLDS, len(splits))):
            if folds * sum(each[:alternatives]) <= budget:
                return Comparison(alternatives, folds)
    return Comparison(1, 0)


def work(spec: Spec, rows: int) -> float:
    """An upper bound of the evaluations times rows and functions of a fit while its scales are learned."""
    several = any(isinstance(one, KernelBasis) and isinstance(one.width, EvidencePerInputWidth) for one in spec.basis)
    evaluations = EVALUATIONS_PER_INPUT if several else EVALUATIONS
    some = min(rows, ROWS_FOR_SCALES)
    functions = some if spec.likelihood.is_conjugate else min(some, MAX_PIVOTS)
    times = 1 if spec.likelihood.is_conjugate else spec.likelihood.latents
    return float(times * evaluations * some * functions)


def _tables(
    rows: Rows, specs: Sequence[Spec], splits: Sequence[Split], learn: Learn, fit_log: FitLog
) -> Generator[Step, None, Array]:
    """(A, K, n): probabilities of the rows of all folds, one after the other, by each alternative."""
    K = max(specs[0].likelihood.latents, 2)
    parts = [np.empty((len(specs), K, 0))]
    yield Step("folds", 0, len(splits), "folds")
    for number, (others, fold) in enumerate(splits):
        table = fit_log.recorded()
        if table is None:
            place, step = fit_log.begin(), Step("folds", number, len(splits), "folds")
            kept = _kept(np.concatenate(parts, axis=2), rows.t, splits[:number])
            table = yield from _table(rows.take(others), rows.take(fold), specs, kept, learn, step)
            fit_log.record(place, table)
        parts.append(table.reshape(len(specs), K, len(fold)))
        yield Step("folds", number + 1, len(splits), "folds")
    return np.concatenate(parts, axis=2)


def _table(
    others: Rows, fold: Rows, specs: Sequence[Spec], kept: Sequence[bool], learn: Learn, step: Step
) -> Generator[Step, None, Array]:
    """(A K, n): probabilities of a fold's rows by each alternative fitted to the other rows."""
    parts: list[Array] = []
    for spec, is_kept in zip(specs, kept, strict=True):
        found = np.full((max(spec.likelihood.latents, 2), len(fold.t)), DROPPED if not is_kept else np.nan)
        if is_kept:
            try:
                fitted = yield from _within(learn(others, spec), step)
                prediction, _ = ready_of(fitted.model).predict(fold.X)
            except (NotPositiveDefiniteError, DataError):
                pass
            else:
                found = prediction.probabilities.T if isinstance(prediction, ClassPrediction) else found
        parts.append(found)
    return np.concatenate(parts)


def _within(steps: Generator[Step, None, FittedClasses], step: Step) -> Generator[Step, None, FittedClasses]:
    """A fit to its end, each of whose steps is reported as `step`."""
    while True:
        try:
            next(steps)
        except StopIteration as ended:
            found: FittedClasses = ended.value
            return found
        yield step


def _kept(table: Array, t: Array, splits: Sequence[Split]) -> list[bool]:
    """The alternatives (A,) that are kept after some folds (A, K, n): not failed, dropped or clearly worse."""
    if not splits:
        return [True] * len(table)
    measured = np.concatenate([fold for _, fold in splits])
    losses = np.array([-_log_probability(one, t[measured]) for one in table])
    is_finite = [bool(np.isfinite(one).all()) for one in losses]
    if len(t) < MIN_ROWS_TO_DROP or not any(is_finite):
        return [bool(not np.isnan(one).any()) for one in losses] if any(is_finite) else [True] * len(table)
    best = min(
        (place for place, finite in enumerate(is_finite) if finite), key=lambda place: float(losses[place].mean())
    )
    return [
        finite and (place == best or not _is_behind(losses[place] - losses[best]))
        for place, finite in enumerate(is_finite)
    ]


def _is_behind(differences: Array) -> bool:
    error = float(differences.std(ddof=1)) / sqrt(len(differences)) if len(differences) > 1 else np.inf
    return float(differences.mean()) > MIN_STANDARD_ERRORS * error


def _log_probability(probabilities: Array, t: Array) -> Array:
    """log p of the classes t (n,), by probabilities (K, n): NaN where the fit failed, infinite where dropped."""
    if not np.isfinite(probabilities).all():
        return np.where(np.isnan(probabilities[0]), np.nan, -probabilities[0])
    return _prediction(probabilities.T).log_density(t)


def _prediction(probabilities: Array) -> ClassPrediction:
    """From probabilities (n, K) alone."""
    none = np.zeros(len(probabilities))
    return ClassPrediction(probabilities, none, none)


@dataclass(frozen=True, eq=False)
class FoldEvaluation:
    """Probabilities `table` (A, K, n) of the rows of some folds, one fold after the other, by each alternative.

    t (N,) are the classes of all rows. `learns_temperature`: each fold's temperature is that of the other folds.
    """

    t: Array
    splits: tuple[Split, ...]
    table: Array
    learns_temperature: bool

    @property
    def n_rows(self) -> int:
        """The number of rows that were measured."""
        return int(self.table.shape[2])

    def is_measured(self, place: int) -> bool:
        """True where an alternative was measured on all rows."""
        return bool(self.n_rows) and place < len(self.table) and bool(np.isfinite(self.table[place]).all())

    def reason(self, place: int) -> str | None:
        """The reason why an alternative was not measured on all rows, None where it was."""
        if not self.n_rows or self.is_measured(place):
            return None
        dropped = self.table[place, 0] == DROPPED
        if np.isnan(self.table[place]).any():
            return NOT_FITTED
        edges = np.cumsum([0, *(len(fold) for _, fold in self.splits)])
        return BEHIND.format(int(np.searchsorted(edges, int(dropped.argmax()), side="right")) - 1, len(self.splits))

    def ranked(self, specs: int) -> list[int]:
        """The alternatives in the order of their scores, those without one last; the earlier of equal ones first."""
        scores = [self.score(place) for place in range(specs)]
        return sorted(range(specs), key=lambda place: (scores[place] is None, -(scores[place] or 0.0)))

    def score(self, place: int) -> float | None:
        """The mean log probability of the rows' classes at each fold's temperature, in nats; None without."""
        return -float(self._measured(place).each["log_loss"].mean()) if self.is_measured(place) else None

    def validation(self, place: int) -> Validation:
        """The rows with all figures of an alternative, empty where it was not measured on all rows."""
        return Validation.of(self._measured(place), self._rows) if self.is_measured(place) else Validation()

    def temperature(self, place: int) -> float | None:
        """The temperature of all measured rows; None where it is not learned, or no row was measured."""
        if not self.learns_temperature or not self.is_measured(place):
            return None
        return fitted_temperature(self.table[place].T, self._t)

    @property
    def _t(self) -> Array:
        return np.asarray(self.t[self._rows])

    @property
    def _rows(self) -> Indices:
        return np.concatenate([np.zeros(0, np.intp), *(fold for _, fold in self.splits)])

    def _measured(self, place: int) -> Measured:
        probabilities, t = self.table[place].T, self._t
        return Measured.joined(list(self._parts(probabilities, t)))

    def _parts(self, probabilities: Array, t: Array) -> Iterator[Measured]:
        stop = 0
        for _, fold in self.splits:
            here = np.arange(stop, stop := stop + len(fold))
            others = np.setdiff1d(np.arange(len(t)), here)
            found = probabilities[here]
            if self.learns_temperature and len(others):
                found = tempered(NUMPY, found, fitted_temperature(probabilities[others], t[others]))
            yield Measured.of(_prediction(found), t[here])
