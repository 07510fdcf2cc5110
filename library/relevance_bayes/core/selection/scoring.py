"""The score of a training on held-out rows, its result, and its cross-validation."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import TypeVar

import numpy as np

from relevance_bayes.core.algorithms.state import State
from relevance_bayes.core.algorithms.task import ROWS_FOR_SCALES
from relevance_bayes.core.basis import KernelBasis
from relevance_bayes.core.errors import DataError, NotPositiveDefiniteError
from relevance_bayes.core.folds import Split, subset
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.kernels.hyperparameters import CrossValidationWidth
from relevance_bayes.core.models.fitting import FitLog
from relevance_bayes.core.models.local.neighbours import LocalTarget
from relevance_bayes.core.models.model import Model, Spec
from relevance_bayes.core.models.pool import LearnedModel, alone, ready_of, with_degrees_of_freedom
from relevance_bayes.core.models.prediction import FIGURES, Measured
from relevance_bayes.core.rows import Folding, Rows, Step
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.records.reports import Evidence, LocalCandidate, Score

T = TypeVar("T")

FOLDS = 5

MAX_ROWS_OF_TENTH = 20_000
"""The most rows of the held-out tenth that are measured: the standard error of a mean of so many is .005 nats."""

EVALUATIONS_OF_SCALES, EVALUATIONS_TOGETHER = 105, 120
"""The most evaluations of the evidence: three starts and the ascent from the best, then all hyperparameters
together."""

FITS_OF_SEARCH = 40
"""The cost of a width search by folds, in fits to all rows."""


@dataclass(frozen=True)
class Bounds:
    """The bounds of the folds of a training, in rows and work: evaluations times their rows and functions.

    Of more rows than `max_rows` only so many are divided into folds, drawn by content; of more than
    `max_rows_for_folds` one tenth is held out. Folds are computed while their total is within `budget`; where folds
    choose among alternatives, those beyond `budget_of_choice` are left out in advance. The folds of a
    pool, and of alternatives of classes, start from the fit to all rows, unless it `learns_folds_anew`.
    """

    max_rows: int = 5_000
    max_rows_for_folds: int = 20_000
    budget: float = 5e10
    budget_of_choice: float = 3e9
    learns_folds_anew: bool = False


NORMAL = Bounds()
"""Some minutes of one core."""

THOROUGH = Bounds(20_000, 100_000, 5e11, 3e10, learns_folds_anew=True)
"""Ten times that; folds that know nothing of all rows check those that start from them."""


@dataclass(frozen=True)
class Scoring:
    """The scoring of a training: by so many `folds`, 0 for not at all, within `bounds`.

    Without bounds they are of all rows, whatever the cost.
    """

    folds: int = 0
    bounds: Bounds | None = None

    @property
    def learns_folds_anew(self) -> bool:
        """True where folds know nothing of the fit to all rows: those of a requested validation, and by bounds."""
        return self.bounds is None or self.bounds.learns_folds_anew

    def splits(self, rows: Rows, folding: Folding, seed: int) -> list[Split]:
        """Pairs of training rows, at least two, and measured rows, at least one."""
        bounds = self.bounds
        if bounds is None or len(rows.t) <= bounds.max_rows:
            found = folding.splits(rows, self.folds, seed)
        elif len(rows.t) > bounds.max_rows_for_folds:
            others, fold = folding.tenth(rows, seed)
            found = iter([(others, fold[subset(rows.X[fold], rows.t[fold], MAX_ROWS_OF_TENTH, seed)])])
        else:
            some = subset(rows.X, rows.t, bounds.max_rows, seed)
            splits = folding.take(some).splits(rows.take(some), self.folds, seed)
            found = ((some[others], some[fold]) for others, fold in splits)
        return [(others, fold) for others, fold in found if len(fold) and len(others) > 1]

    def affordable(self, splits: int, work: float) -> int:
        """The number of splits within the budget for a training of this `work`."""
        return splits if self.bounds is None else min(splits, int(self.bounds.budget // max(work, 1.0)))


@dataclass(frozen=True)
class Compared:
    """A model that was compared and not taken: its mean log density of the folds' rows in nats, or why there is none.

    `computable` is False where its matrices are not positive definite in floating point.
    """

    spec: Spec
    score: float | None
    reason: str | None = None
    computable: bool = True


def work_of(problem: Problem, spec: Spec, last: State) -> float:
    """The evaluations of a fit times their rows and functions, from its last state: the same in every run."""
    if last.process is None:
        searched = any(
            isinstance(one, KernelBasis) and isinstance(one.width, CrossValidationWidth) for one in spec.basis
        )
        fits = 1 + FITS_OF_SEARCH * searched
        return float(fits) * last.iteration * problem.rows * problem.candidates.size
    scales, functions = min(problem.rows, ROWS_FOR_SCALES), max(len(last.active), 1)
    return float(EVALUATIONS_OF_SCALES) * scales**2 + float(EVALUATIONS_TOGETHER) * problem.rows * functions


@dataclass(frozen=True, eq=False)
class MeasuredRows:
    """The numbers `rows` (n,) of rows, among those of the training or the held-out ones, and their predictions by
    models that did not learn from them."""

    rows: Indices
    measured: Measured


@dataclass(frozen=True, eq=False)
class HeldOutFigures:
    """The `figures` of rows that were left out, and these rows.

    The figures are the scores, the number of `rows`, and the standard error of `nll` or `log_loss`; without rows they
    are empty, or `rows` is 0.
    """

    figures: Mapping[str, float] = field(default_factory=dict)
    left_out: MeasuredRows | None = None

    @classmethod
    def of(cls, measured: Measured, rows: Indices) -> "HeldOutFigures":
        """The figures of these rows (n,), each with an nll that is bounded: see `Measured.clip`."""
        bounded = measured if measured.is_clipped is not None else measured.clip()
        loss = "nll" if "nll" in bounded.each else "log_loss"
        error = standard_error(bounded.each[loss])
        figures = {**bounded.scores(), "rows": float(len(bounded.t)), f"{loss}_se": error}
        return cls(figures, MeasuredRows(rows, bounded))


def standard_error(each: Array) -> float:
    """The standard error of the mean of figures (n,), one of each row."""
    return float(each.std(ddof=1)) / sqrt(len(each)) if len(each) > 1 else 0.0


MIN_STANDARD_ERRORS = 2.0
"""Standard errors of the paired differences by which a model must be better than another one to be clearly better."""

HOPELESS = 1.2816
"""The quantile of a normal variable at a chance of one in ten."""


def is_clearly_better(gains: Array) -> bool:
    """True where the mean of paired gains (n,) is more than MIN_STANDARD_ERRORS above zero."""
    return bool(gains.mean() > MIN_STANDARD_ERRORS * standard_error(gains))


def is_hopeless(gains: Array, share: float, needed: float = MIN_STANDARD_ERRORS) -> bool:
    """True where a model of these gains (n,) after a `share` of the folds would hardly end `needed` standard errors
    above zero.

    With the trend of the folds so far, which is uncertain itself, the chance of that is below one in ten where the
    gain, z standard errors, is below needed sqrt(share) - 1.28 sqrt(1 - share).
    """
    trend = needed * sqrt(share) - HOPELESS * sqrt(1.0 - share)
    return bool(gains.mean() < trend * standard_error(gains))


def score_of(validation: Mapping[str, float], folds: int, total: int) -> Score:
    """The score in the figures of `folds` folds that were measured, of `total`."""
    rows = int(validation.get("rows", 0.0))
    if not rows:
        return Score.none(UNAFFORDABLE if folds < total else "No fold's other rows could be learned from.")
    loss = "nll" if "nll" in validation else "log_loss"
    reason = None if folds == total else f"{folds} of {total} folds: more are beyond what the effort allows."
    value, error = -validation[loss], validation.get(f"{loss}_se")
    return Score(value, error, rows, folds, reason) if np.isfinite(value) else Score.none(NOT_FINITE)


NOT_FITTED = "could not be fitted to each fold"
BEHIND = "after {0} of {1} folds it was too far behind to be taken"
UNAFFORDABLE = "Another training on other rows is beyond what the effort allows."
NOT_FINITE = "The density of a row that was left out is not a number."

NOT_MEASURED = Score.none("No rows were held out: request a validation.")


@dataclass(frozen=True)
class PoolMember:
    """A process of the pool: its spec, its weight, the number of its functions, and the evidence before the
    reduction."""

    spec: Spec
    weight: float
    functions: int
    evidence: Evidence


@dataclass(frozen=True)
class RankedModel:
    """One of the compared fits: its spec, the number of its functions, and its score.

    `score` is the log of its evidence with the hyperparameters integrated out, in nats. A model that was worse on the
    rows of its scales was stopped early: it has no `functions`, and its score is the best less that difference.
    """

    spec: Spec
    functions: int | None
    score: float


@dataclass(frozen=True)
class LocalComparison:
    """Mean log densities of the held-out `rows`, in nats a row, in the units of t.

    `taken` is the quantity that the chosen process models, None where the sparse model was chosen; its score is
    `sparse`, None where it was not fitted. `linear` and `noise` are those of a linear model and of noise alone, None
    where no process of the targets was learned.
    """

    taken: LocalTarget | None
    rows: int
    sparse: float | None
    linear: float | None
    noise: float | None
    candidates: tuple[LocalCandidate, ...]


MAX_SCREENED_ROWS = 300
"""The most rows of the two fits whose evidence decides whether folds compare derived columns."""


@dataclass(frozen=True)
class DerivedColumns:
    """The comparison of a fit with columns of X that are derived from others, and without, or in their place.

    `gain` is the score with them less that without, in nats a row, None where it was not measured.
    """

    kept: bool
    gain: float | None


@dataclass(frozen=True, eq=False)
class Trained:
    """The result: the model, the spec as run (with the widths found), and its figures.

    `scores` on the held-out rows, `leave_one_out` and `validation` are empty where there are none; `ranked_models` are
    those that were compared by evidence, the best first. Of a pool `members` are the processes that it kept, `compared`
    the models that the folds evaluated, `score_loss` the loss by its reduction to few functions, and `unreduced` the
    number of functions without it. `score` is that of the validation, or the reason why there is none. Models that
    could not be fitted are in `compared` too, with the reason. Of a model for each class `class_specs` are the members'
    specs, and of a hurdle those of both models. `local` is the comparison with nearest-neighbour processes. Figures are
    in the units of t. `left_out` are the rows that `validation` measured, and `held_out` those of `scores`, with their
    predictions; None without any. `gain` are the mean gain of a compared model that was taken over the pool, in nats a
    row, and its standard error. `derived` is the comparison with derived columns, `logarithms` that with logarithms in
    place of numbers, `texts` that with the effects of texts; None without any. `work` are the evaluations of the
    compared fits times their rows and functions, 0 where they don't bound the folds.
    """

    learned: LearnedModel
    spec: Spec
    scores: dict[str, float] = field(default_factory=dict)
    leave_one_out: dict[str, float] = field(default_factory=dict)
    ranked_models: tuple[RankedModel, ...] = ()
    validation: dict[str, float] = field(default_factory=dict)
    members: tuple[PoolMember, ...] = ()
    compared: tuple[Compared, ...] = ()
    score_loss: float | None = None
    class_specs: tuple[Spec, ...] = ()
    unreduced: int | None = None
    score: Score = NOT_MEASURED
    local: LocalComparison | None = None
    left_out: MeasuredRows | None = None
    held_out: MeasuredRows | None = None
    derived: DerivedColumns | None = None
    logarithms: DerivedColumns | None = None
    texts: DerivedColumns | None = None
    gain: tuple[float, float] | None = None
    work: float = 0.0

    def measured(self, validation: HeldOutFigures, folds: int, total: int) -> "Trained":
        """With the figures of `folds` folds, of `total`."""
        score = score_of(validation.figures, folds, total)
        return replace(self, validation=dict(validation.figures), score=score, left_out=validation.left_out)

    @property
    def model(self) -> Model:
        """The model, where it is a single one; raises SparseBayesError for a pool."""
        return alone(self.learned)


Fit = Callable[[Rows, Folding], Generator[Step, None, Trained]]
"""The fit of a candidate to some rows, whose inner folds follow the `Folding`."""


def validated(
    rows: Rows, fit: Fit, splits: Sequence[Split], folding: Folding, fit_log: FitLog
) -> Generator[Step, None, HeldOutFigures]:
    """The measured rows, each of them once.

    A fold whose training rows can't be fitted is skipped. The log keeps the figures and predictions of each measured
    fold's rows.
    """
    parts, folds = list[Measured](), list[Indices]()
    yield Step("validation", 0, len(splits), "fits")
    for number, (others, fold) in enumerate(splits):
        table = fit_log.recorded()
        if table is None:
            place = fit_log.begin()
            step = Step("validation", number, len(splits), "fits")
            found = yield from within(fit(rows.take(others), folding.take(others)), step)
            table = np.full((len(FIGURES), len(fold)), np.nan)
            if found is not None:
                table = table_of_rows(with_degrees_of_freedom(found.learned), rows.take(fold))
            fit_log.record(place, table)
        part = measured(table, rows.t[fold])
        if part.each:
            parts.append(part)
            folds.append(fold)
        yield Step("validation", number + 1, len(splits), "fits")
    return HeldOutFigures.of(Measured.joined(parts), np.concatenate(folds)) if parts else HeldOutFigures({"rows": 0.0})


def within(steps: Generator[Step, None, T], step: Step) -> Generator[Step, None, T | None]:
    """The result of steps that are reported as `step`; None where it can't be computed."""
    with suppress(DataError, NotPositiveDefiniteError):
        while True:
            try:
                next(steps)
            except StopIteration as ended:
                found: T = ended.value
                return found
            yield step
    return None


def table_of_rows(model: LearnedModel, fold: Rows) -> Array:
    """FIGURES of rows by a model, NaN where a target has no such figure, and J outputs of `Measured`: (6 + J, n)."""
    found, nothing = measured_rows(model, fold), np.full(len(fold.t), np.nan)
    return np.array([*(found.each.get(name, nothing) for name in FIGURES), *found.outputs])


def measured_rows(model: LearnedModel, fold: Rows) -> Measured:
    """The predictions of rows by a model that did not learn from them."""
    prediction, _ = ready_of(model).predict(fold.X, fold.noise_sd)
    return Measured.of(prediction, fold.t)


def measured(table: Array, t: Array) -> Measured:
    """The rows of a table (6 + J, n), with the targets t (n,)."""
    pairs = zip(FIGURES, table[: len(FIGURES)], strict=True)
    return Measured(t, {name: row for name, row in pairs if not np.isnan(row).all()}, table[len(FIGURES) :])
