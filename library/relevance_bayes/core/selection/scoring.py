"""The score of a training on held-out rows: the folds, their cost, and the figures reported."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from relevance_bayes.core.algorithms.state import State
from relevance_bayes.core.algorithms.task import ROWS_FOR_SCALES
from relevance_bayes.core.basis import KernelBasis
from relevance_bayes.core.folds import Split, subset
from relevance_bayes.core.prediction import Measured
from relevance_bayes.core.problem import Problem
from relevance_bayes.core.scales import CrossValidationWidth
from relevance_bayes.core.selection.rows import Folding, Rows
from relevance_bayes.core.spec import Spec
from relevance_bayes.core.types import Array, Indices

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
    choose among alternatives, those beyond `budget_of_choice` are left out in advance. A pool of many rows learns the
    scales of a fold from `max_rows_for_scales`.
    """

    max_rows: int = 5_000
    max_rows_for_folds: int = 20_000
    budget: float = 5e10
    budget_of_choice: float = 3e9
    max_rows_for_scales: int = 700


NORMAL = Bounds()
"""Some minutes of one core; a fold of a pool of many rows costs a third of the fit to all rows."""

THOROUGH = Bounds(20_000, 100_000, 5e11, 3e10, ROWS_FOR_SCALES)
"""Ten times that."""


@dataclass(frozen=True)
class Scoring:
    """The scoring of a training: by so many `folds`, 0 for not at all, within `bounds`.

    Without bounds they are of all rows, whatever the cost.
    """

    folds: int = 0
    bounds: Bounds | None = None

    def splits(self, rows: Rows, folding: Folding, seed: int) -> list[Split]:
        """Pairs of training rows, at least two, and measured rows, at least one."""
        return [(others, fold) for others, fold in self._splits(rows, folding, seed) if len(fold) and len(others) > 1]

    def _splits(self, rows: Rows, folding: Folding, seed: int) -> Iterable[Split]:
        if self.bounds is None or len(rows.t) <= self.bounds.max_rows:
            return folding.splits(rows, self.folds, seed)
        if len(rows.t) > self.bounds.max_rows_for_folds:
            others, fold = folding.tenth(rows, seed)
            return [(others, fold[subset(rows.X[fold], rows.t[fold], MAX_ROWS_OF_TENTH, seed)])]
        some = subset(rows.X, rows.t, self.bounds.max_rows, seed)
        splits = folding.take(some).splits(rows.take(some), self.folds, seed)
        return [(some[others], some[fold]) for others, fold in splits]

    def holds_out_a_tenth(self, rows: Rows) -> bool:
        """Return whether one tenth of these rows is measured instead of folds."""
        return bool(self.folds) and self.bounds is not None and len(rows.t) > self.bounds.max_rows_for_folds

    def affordable(self, splits: int, work: float) -> int:
        """The number of splits within the budget for a training of this `work`."""
        return splits if self.bounds is None else min(splits, int(self.bounds.budget // max(work, 1.0)))


@dataclass(frozen=True)
class Score:
    """The mean log density, in nats, of held-out rows.

    `standard_error` of the mean, over `rows` rows in `folds` folds. Both are None without a score; `reason` is why
    there is none, or why it is not of all folds.
    """

    value: float | None
    standard_error: float | None
    rows: int
    folds: int
    reason: str | None = None

    @classmethod
    def none(cls, reason: str) -> "Score":
        """No score, for this reason."""
        return cls(None, None, 0, 0, reason)


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
class Validation:
    """The `figures` of rows that were left out, empty or with `rows` of 0 where there are none, and these rows."""

    figures: Mapping[str, float] = field(default_factory=dict)
    left_out: MeasuredRows | None = None

    @classmethod
    def of(cls, measured: Measured, rows: Indices) -> "Validation":
        """The figures of these rows (n,)."""
        return cls(figures(measured), MeasuredRows(rows, measured))


def figures(measured: Measured) -> dict[str, float]:
    """The scores of some rows, how many these are, and the standard error of `nll` or `log_loss`."""
    loss = "nll" if "nll" in measured.each else "log_loss"
    return {**measured.scores(), "rows": float(len(measured.t)), f"{loss}_se": standard_error(measured.each[loss])}


def standard_error(each: Array) -> float:
    """The standard error of the mean of figures (n,), one of each row."""
    return float(each.std(ddof=1)) / sqrt(len(each)) if len(each) > 1 else 0.0


def score_of(validation: Mapping[str, float], folds: int, total: int) -> Score:
    """The score in the figures of `folds` folds that were measured, of `total`."""
    rows = int(validation.get("rows", 0.0))
    if not rows:
        return Score.none(UNAFFORDABLE if folds < total else "No fold's other rows could be learned from.")
    loss = "nll" if "nll" in validation else "log_loss"
    reason = None if folds == total else f"{folds} of {total} folds: more are beyond what the effort allows."
    value, error = -validation[loss], validation.get(f"{loss}_se")
    return Score(value, error, rows, folds, reason) if np.isfinite(value) else Score.none(NOT_FINITE)


UNAFFORDABLE = "Another training on other rows is beyond what the effort allows."
NOT_FINITE = "The density of a row that was left out is not a number."
