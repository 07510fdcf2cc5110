"""Rows that are given more than once count once, where their targets are measured.

Two observations with noise of their own never have the same number to the last digit: a row that is there twice is a
copy, and says nothing new. Counted twice it would make intervals too narrow by the root of two, and more functions seem
to be worth it. Where targets are counted or rounded to few values, equal rows are observations like any others, and all
are kept.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from relevance_bayes.core.folds import content_keys
from relevance_bayes.core.types import Array

MAX_AGREEMENT = 0.01
"""Targets are measured where two rows that differ agree in theirs with less than this probability."""

MAX_ROWS = 1_000_000
"""Of more rows copies are not looked for: 40 bytes for each would be held in memory."""

EXTRA_COLUMNS = 4
"""Beside its inputs a row has t, its noise sd, the fold key and the dataset row's number."""


@dataclass(frozen=True)
class WrittenRows:
    """A file of float64: `training` rows, then `held_out` ones, of `inputs` numbers and EXTRA_COLUMNS each."""

    path: Path
    training: int
    held_out: int
    inputs: int

    def mapped(self) -> Array:
        """All its rows, read-only."""
        return np.memmap(self.path, "<f8", "r", shape=(self.training + self.held_out, self.inputs + EXTRA_COLUMNS))


def drop_duplicates(rows: WrittenRows, *, by_group: bool) -> int:
    """Rewrite the file without training rows that repeat an earlier one, and return how many they were.

    Rows are equal with equal inputs, target and noise and, if they are kept apart `by_group`, in the same group.
    """
    if rows.training > MAX_ROWS:
        return 0
    table = rows.mapped()
    compared = rows.inputs + (3 if by_group else 2)
    _, first = np.unique(content_keys(table[: rows.training, :compared], 0), return_index=True)
    copies = rows.training - len(first)
    if not copies or not _are_measured(table[first, rows.inputs]):
        return 0
    kept = np.concatenate([np.sort(first), np.arange(rows.training, len(table))])
    shorter = rows.path.with_suffix(".kept")
    shorter.write_bytes(np.ascontiguousarray(table[kept], "<f8").data)
    del table
    shorter.replace(rows.path)
    return copies


def _are_measured(t: Array) -> bool:
    """Return whether the targets t (n,) of rows that all differ hardly agree by chance."""
    n = len(t)
    _, counts = np.unique(t, return_counts=True)
    return n > 1 and float(counts @ (counts - 1.0)) < MAX_AGREEMENT * n * (n - 1.0)
