"""Metrics and diagnostics of predicted numbers, in memory that does not grow with the rows."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from app.evaluation.metrics.losses import MAX_ERROR, Mean, losses
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.records.evaluations import (
    Coverage,
    EvaluationResult,
    NumberDiagnostics,
    NumberMetrics,
    ResidualBin,
)
from relevance_bayes.tables.moments import Moments
from relevance_bayes.tasks.listing import BINS, pit_counts
from relevance_bayes.tasks.prediction import COVERAGES, LabelledNumbers

MAX_CELLS = 4_096
"""The number of cells that are kept; beyond it pairs of neighbours are merged."""

RESULT_BINS = 20
"""The number of bins in the result, each with about as many rows."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells (C,) in ascending order of their mean prediction: `rows`, and (C, 5) with the members of `ResidualBin`."""

    rows: Array
    reported: Array

    @classmethod
    def empty(cls) -> Self:
        """Return no cells."""
        return cls(np.empty(0), np.empty((0, 5)))

    @classmethod
    def of(cls, prediction: Array, error: Array) -> "Cells":
        """Return one cell for each of the rows (N,)."""
        reported = np.column_stack([prediction, prediction, prediction, error, np.abs(error)])
        return cls.empty() + cls(np.ones(len(prediction)), reported)

    def __add__(self, other: "Cells") -> "Cells":
        """Return the cells of both, merged."""
        rows, reported = np.concatenate([self.rows, other.rows]), np.concatenate([self.reported, other.reported])
        order = np.argsort(reported[:, 2], kind="stable")
        rows, reported = rows[order], reported[order]
        if len(rows) <= MAX_CELLS:
            return Cells(rows, reported)
        return _together(rows, reported, groups=MAX_CELLS // 2)

    def bins(self) -> Iterator[ResidualBin]:
        """Yield at most `RESULT_BINS` bins, by ascending prediction; exact while there are no more rows than cells."""
        found = _together(self.rows, self.reported, groups=RESULT_BINS)
        for rows, reported in zip(found.rows.tolist(), found.reported.tolist(), strict=True):
            yield ResidualBin(int(rows), *reported)


def _together(rows: Array, reported: Array, *, groups: int) -> Cells:
    """Return neighbours merged to at most so many groups with about as many rows each."""
    if not len(rows):
        return Cells.empty()
    middle = np.cumsum(rows) - 0.5 * rows
    group = np.floor(middle * (groups / rows.sum()))
    starts = np.flatnonzero(np.diff(group, prepend=-1.0))
    counts = np.add.reduceat(rows, starts)
    share = rows / np.repeat(counts, np.diff(starts, append=len(rows)))
    lowest = np.minimum.reduceat(reported[:, 0], starts)
    highest = np.maximum.reduceat(reported[:, 1], starts)
    return Cells(counts, np.column_stack([lowest, highest, np.add.reduceat(share[:, None] * reported[:, 2:], starts)]))


STEPS = np.arange(-4.0, 4.25, 0.25)
"""The edges between the bins of standardised residuals; the first and the last bin are open."""


@dataclass(frozen=True, eq=False)
class NumberScores:
    """Accumulated scores of rows; scores of parts are added."""

    targets: Moments
    errors: Moments
    sizes: Mean
    nll: Mean
    inside: tuple[Mean, ...]
    widths: tuple[Mean, ...]
    standardised: Array
    pit: Array
    cells: Cells

    @classmethod
    def empty(cls) -> Self:
        """Return the scores of no rows."""
        none = (Mean(),) * len(COVERAGES)
        bins = np.zeros(len(STEPS) + 1), np.zeros(BINS)
        return cls(Moments(), Moments(), Mean(), Mean(), none, none, *bins, Cells.empty())

    @classmethod
    def of(cls, labelled: LabelledNumbers) -> Self:
        """Return the scores of some rows."""
        error, target = labelled.error, labelled.target
        inside = (labelled.lower <= target) & (target <= labelled.upper)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            widths = np.minimum(labelled.upper - labelled.lower, np.finfo(np.float64).max)
            standardised = np.where(error == 0.0, 0.0, error / labelled.sd)
        return cls(
            targets=Moments.of(target),
            errors=Moments.of(error),
            sizes=Mean.of(losses(labelled, "mae")),
            nll=Mean.of(losses(labelled, "nll")),
            inside=tuple(Mean.of(row.astype(np.float64)) for row in inside),
            widths=tuple(map(Mean.of, widths)),
            standardised=_counted(np.searchsorted(STEPS, standardised, side="right"), len(STEPS) + 1),
            pit=pit_counts(labelled.below, labelled.upto),
            cells=Cells.of(labelled.mean, error),
        )

    def __add__(self, other: "NumberScores") -> "NumberScores":
        """Return the scores of both."""
        return NumberScores(
            self.targets + other.targets,
            self.errors + other.errors,
            self.sizes + other.sizes,
            self.nll + other.nll,
            tuple(one + more for one, more in zip(self.inside, other.inside, strict=True)),
            tuple(one + more for one, more in zip(self.widths, other.widths, strict=True)),
            self.standardised + other.standardised,
            self.pit + other.pit,
            self.cells + other.cells,
        )

    def result(self) -> EvaluationResult[NumberMetrics, NumberDiagnostics]:
        """Return the metrics of these rows.

        `r2` is 0 where the target is constant.
        """
        rows = self.errors.count
        rmse = math.hypot(self.errors.mean, self.errors.sd)
        metrics = NumberMetrics(
            rmse=min(rmse, float(np.finfo(np.float64).max)) if rows else None,
            mae=self.sizes.value,
            r2=self._explained(rmse) if rows else None,
            nll=self.nll.value,
            rows_of_zero_density=self.nll.left_out,
            coverage=tuple(
                Coverage(percent, inside.mean, width.mean)
                for percent, inside, width in zip(COVERAGES, self.inside, self.widths, strict=True)
                if rows
            ),
        )
        diagnostics = NumberDiagnostics(
            bin_edges=tuple(STEPS.tolist()),
            standardised_residuals=tuple(int(count) for count in self.standardised),
            pit=tuple((self.pit / max(rows, 1)).tolist()),
            residuals=tuple(self.cells.bins()),
        )
        return EvaluationResult(
            rows=rows, rows_without_target=0, rows_not_predicted=0, metrics=metrics, diagnostics=diagnostics
        )

    def _explained(self, rmse: float) -> float:
        spread = self.targets.sd
        return 1.0 - min(rmse / spread, MAX_ERROR) ** 2 if spread else 0.0


def _counted(places: Indices, bins: int) -> Array:
    return np.bincount(places, minlength=bins).astype(np.float64)
