"""Duplicate rows, which are dropped where targets are measured.

Two observations with independent noise never have the same number to the last digit, so a repeated row is a copy and
has no information. Counted twice, it would make intervals too narrow by the root of two, and would justify more
functions than the data does. Where targets are counts or rounded to few values, equal rows are separate observations,
and all are kept.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from relevance_bayes.core.folds import content_keys
from relevance_bayes.core.types import Array

MAX_AGREEMENT = 0.01
"""Targets count as measured where two distinct rows agree in theirs with less than this probability."""

MAX_ROWS = 1_000_000
"""The most rows that are searched for copies: each takes 40 bytes of memory."""

EXTRA_COLUMNS = 4
"""The columns after the inputs: t, the noise sd, the fold key and the number of the dataset row."""


@dataclass(frozen=True)
class WrittenRows:
    """A file of float64: `training` rows, then `held_out` ones, of `inputs` numbers and EXTRA_COLUMNS each."""

    path: Path
    training: int
    held_out: int
    inputs: int

    def mapped(self) -> Array:
        """Return all rows, mapped read-only."""
        return np.memmap(self.path, "<f8", "r", shape=(self.training + self.held_out, self.inputs + EXTRA_COLUMNS))


def drop_duplicates(rows: WrittenRows, *, by_group: bool) -> int:
    """Rewrite the file without training rows that repeat an earlier one; return their number.

    Rows are equal where their inputs, targets and noise are, and with `by_group` their groups too.
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
    """Return whether the targets t (n,) of distinct rows rarely agree by chance."""
    n = len(t)
    _, counts = np.unique(t, return_counts=True)
    return n > 1 and float(counts @ (counts - 1.0)) < MAX_AGREEMENT * n * (n - 1.0)
