"""The rows of a dataset that are complete for a fit, in parts."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from relevance_bayes.core.types import Array, Mask
from relevance_bayes.plans.requests import InputColumn
from relevance_bayes.tables.columns import Block, block_rows, taken
from relevance_bayes.tables.encoding import gaps
from relevance_bayes.types.errors import TrainingFailedError

Read = Callable[[], Iterator[tuple[int, Block]]]
"""Starts a new pass over a dataset and yields its blocks in order, each with the number of its first row."""

MAX_CELLS_AT_ONCE = 2**22
"""The most encoded numbers in memory at a time; a block with more is split into parts."""


@dataclass(frozen=True, eq=False)
class Part:
    """Complete rows of one block, their numbers (N,) in the dataset, and the number of rows that were left out."""

    block: Block
    numbers: Array
    dropped: int

    def take(self, chosen: Mask) -> "Part":
        """Return the rows for which `chosen` (N,) is true; the others count as left out."""
        rows = np.flatnonzero(chosen)
        block = {name: taken(column, rows) for name, column in self.block.items()}
        return Part(block, self.numbers[rows], self.dropped + len(chosen) - len(rows))


def complete_rows(
    read: Read, inputs: Sequence[InputColumn], *, beside: Sequence[str] = (), needed: Sequence[str]
) -> Iterator[Part]:
    """Yield the rows without a gap in the `needed` columns: their inputs, and the columns `beside`."""
    names = [*(column.name for column in inputs), *beside]
    cells = sum(1 + max(1, len(column.categories)) for column in inputs)
    step = max(1, MAX_CELLS_AT_ONCE // max(1, cells))
    for first_row, block in read():
        dropped = np.zeros(block_rows(block), np.bool_)
        for name in needed:
            dropped |= gaps(block[name])
        complete = np.flatnonzero(~dropped)
        for start in range(0, max(1, len(complete)), step):
            chosen = complete[start : start + step]
            whole = len(chosen) == len(dropped)
            kept = {name: block[name] if whole else taken(block[name], chosen) for name in names}
            yield Part(kept, first_row + chosen.astype(np.float64), 0 if start else int(dropped.sum()))


def refuse_too_many(cells: int, *, maximum: int) -> None:
    """Raise TrainingFailedError where rows times encoded inputs exceed `maximum`."""
    if cells > maximum:
        raise TrainingFailedError(
            f"Rows times encoded inputs are {cells:,} numbers, above this service's limit of {maximum:,};"
            " name fewer `inputs` (a text column takes one for each of its categories) or use fewer rows.",
            kind="too-large",
        )


def refuse_too_few(rows: int, *, left_out: str = "rows with gaps") -> None:
    """Raise TrainingFailedError for fewer than two rows."""
    if rows < 2:
        number = "one row is" if rows else "no rows are"
        raise TrainingFailedError(
            f"After leaving out {left_out} {number} left to learn from, and at least two are needed;"
            ' fill the gaps, leave out the columns that have them, or send "missing": "indicator".',
            kind="too-few-rows",
        )
