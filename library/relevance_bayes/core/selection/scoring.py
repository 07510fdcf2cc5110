"""The score of a training by rows that it has not learned from: which rows, what it may cost, and what is reported."""

from collections.abc import Mapping
from dataclasses import dataclass
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
from relevance_bayes.core.types import Array

FOLDS = 5

EVALUATIONS_OF_SCALES, EVALUATIONS_TOGETHER = 105, 120
"""Of the evidence at most: three starts and the ascent from the best of them, then all hyperparameters together."""

FITS_OF_SEARCH = 40
"""That a search for a width by folds takes, in fits to all rows."""


@dataclass(frozen=True)
class Bounds:
    """The bounds of the folds of a training, in rows and work: evaluations times their rows and functions.

    More rows than `max_rows` are folded as so many of them, drawn by content, and of more than `max_rows_for_folds` a
    tenth is measured, by what was learned from the others. Folds are made while they take `budget` together; where
    they choose among alternatives, what `budget_of_choice` does not allow is left out before it begins. A pool of more
    rows than tell its scales learns those of a fold from `max_rows_for_scales`.
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
        """Pairs of rows to learn from and rows to measure on, both of at least one row, and two to learn from."""
        return [(others, fold) for others, fold in self._splits(rows, folding, seed) if len(fold) and len(others) > 1]

    def _splits(self, rows: Rows, folding: Folding, seed: int) -> list[Split]:
        if self.bounds is None or len(rows.t) <= self.bounds.max_rows:
            return folding.splits(rows, self.folds, seed)
        if len(rows.t) > self.bounds.max_rows_for_folds:
            return [folding.tenth(rows, seed)]
        some = subset(rows.X, rows.t, self.bounds.max_rows, seed)
        splits = folding.take(some).splits(rows.take(some), self.folds, seed)
        return [(some[others], some[fold]) for others, fold in splits]

    def affordable(self, splits: int, work: float) -> int:
        """The number of splits that are measured where a training takes so much `work`."""
        return splits if self.bounds is None else min(splits, int(self.bounds.budget // max(work, 1.0)))


@dataclass(frozen=True)
class Score:
    """The mean log density, in nats, of the rows that a training was measured on, by what was learned without them.

    `standard_error` of the mean, over `rows` rows in `folds` folds. Both are None where there is no score, or it is not
    of all folds: `reason` says why.
    """

    value: float | None
    standard_error: float | None
    rows: int
    folds: int
    reason: str | None = None

    @classmethod
    def none(cls, reason: str) -> "Score":
        """No score, and why."""
        return cls(None, None, 0, 0, reason)


@dataclass(frozen=True)
class Compared:
    """A model that was fitted and not taken: its mean log density of the folds' rows in nats, or why there is none.

    Some are not `computable` in floating point.
    """

    spec: Spec
    score: float | None
    reason: str | None = None
    computable: bool = True


def work_of(problem: Problem, spec: Spec, last: State) -> float:
    """The evaluations of a fit times their rows and functions, as its last state tells: the same in every run."""
    if last.process is None:
        fits = 1 + FITS_OF_SEARCH * any(_searched(basis) for basis in spec.basis)
        return float(fits) * last.iteration * problem.rows * problem.candidates.size
    scales, functions = min(problem.rows, ROWS_FOR_SCALES), max(len(last.active), 1)
    return float(EVALUATIONS_OF_SCALES) * scales**2 + float(EVALUATIONS_TOGETHER) * problem.rows * functions


def _searched(basis: object) -> bool:
    return isinstance(basis, KernelBasis) and isinstance(basis.width, CrossValidationWidth)


def figures(measured: Measured) -> dict[str, float]:
    """The scores of some rows, how many these are, and the standard error of `nll` or `log_loss`."""
    loss = "nll" if "nll" in measured.each else "log_loss"
    return {**measured.scores(), "rows": float(len(measured.t)), f"{loss}_se": standard_error(measured.each[loss])}


def standard_error(each: Array) -> float:
    """Of the mean of figures (n,), one of each row."""
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
