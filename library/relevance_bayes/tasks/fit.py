"""The fit of a task, which may run in a process of its own: this file and the tasks' fits import the core alone."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import Protocol

import numpy as np

from relevance_bayes.core.models.fitting import FitLog
from relevance_bayes.core.rows import BLOCK_ROWS, Reduction, RowBlock, S, block_bounds, n_blocks, reduce_blocks
from relevance_bayes.core.selection import FitContext, Folding, Rows, Selection, Step, Trained
from relevance_bayes.core.types import Array, Indices

MAX_COPIED = 2**22
"""The maximum numbers that are copied into memory where some rows are taken: 32 MiB."""


def mapped(path: Path, rows: int, columns: int) -> Array:
    """Return the file as a read-only memory map: pages that are not read take no memory."""
    return np.asarray(np.memmap(path, "<f8", "r", shape=(rows, columns)))


@dataclass(frozen=True, eq=False)
class MappedRows:
    """The first rows of a file of float64, as many as t (N,) has; each is `columns` numbers, inputs first.

    A pass maps a block at a time and copies its inputs, so memory does not grow with the file. `threads` share each
    pass.
    """

    path: Path
    columns: int
    inputs: int
    t: Array
    precisions: Array | None = None
    threads: int = 1

    def reduce(self, reduction: Reduction[S], max_rows: int = BLOCK_ROWS) -> S:
        """Return the sum of the results for all blocks."""
        rows = len(self.t)
        return reduce_blocks(self.block, range(n_blocks(rows)), reduction, max_rows, threads=self.threads).total(rows)

    def block(self, number: int) -> RowBlock:
        """Return a block by its number."""
        first, stop = block_bounds(number, len(self.t))
        page = np.memmap(self.path, "<f8", "r", first * self.columns * 8, (stop - first, self.columns))
        precisions = None if self.precisions is None else self.precisions[first:stop]
        return RowBlock(first, np.array(page[:, : self.inputs]), self.t[first:stop], precisions)

    def every(self) -> RowBlock:
        """Return all rows as one block, mapped."""
        return RowBlock(0, mapped(self.path, len(self.t), self.columns)[:, : self.inputs], self.t, self.precisions)

    def take_inputs(self, chosen: Indices) -> Array:
        """Return the inputs (n, d) of some rows: in memory, or of many mapped from a temporary file beside this one.

        That has no name, and goes with the array. Raises OSError where the disk is full.
        """
        inputs = self.every().X
        if len(chosen) * self.inputs <= MAX_COPIED:
            return np.asarray(inputs[chosen])
        with TemporaryFile(dir=self.path.parent) as file:
            os.posix_fallocate(file.fileno(), 0, 8 * len(chosen) * self.inputs)  # a full disk is an error, not SIGBUS
            taken = np.memmap(file, "<f8", "w+", shape=(len(chosen), self.inputs))
        for first in range(0, len(chosen), BLOCK_ROWS):
            taken[first : first + BLOCK_ROWS] = inputs[chosen[first : first + BLOCK_ROWS]]
        return np.asarray(taken)

    def with_targets(self, t: Array, precisions: Array | None) -> "MappedRows":
        """Return the same inputs with other targets and noise precisions."""
        return replace(self, t=t, precisions=precisions)


@dataclass(frozen=True)
class Limits:
    """Threads of passes over all rows, `memory` in bytes, and rows times candidates; None: no limit."""

    threads: int = 1
    memory: int | None = None
    candidate_cells: int | None = None


class Trainer(Protocol):
    """`relevance_bayes.core.selection.train`, or a replacement in tests."""

    def __call__(
        self,
        rows: Rows,
        selection: Selection,
        *,
        folding: Folding,
        held_out: Rows | None = None,
        on: FitContext,
    ) -> Iterator[Step | Trained]: ...


@dataclass(frozen=True, eq=False)
class Fitted:
    """The result of a fit, which its training turns into a version."""

    result: object


class Fit(Protocol):
    """A file of rows and the specification of what to fit to them: the order that a child process receives."""

    def steps(self, train: Trainer, limits: Limits, fit_log: FitLog) -> Iterator[Step | Fitted]:
        """Return the steps from the end of the log, then the result; raises SparseBayesError."""
