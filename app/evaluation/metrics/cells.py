"""Errors binned by prediction, for a plot; neighbouring cells are merged as rows are added."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from relevance_bayes.core.types import Array
from relevance_bayes.records.evaluations import ResidualBin

MAX_CELLS = 4_096
"""The number of cells that are kept; beyond it pairs of neighbours are merged."""

BINS = 20
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
        """Yield at most `BINS` bins, by ascending prediction; exact while there are no more rows than cells."""
        found = _together(self.rows, self.reported, groups=BINS)
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
