"""The raw cells of dataset rows, for the listed functions that are centred on them."""

from collections.abc import Callable, Sequence

from relevance_bayes.tables.columns import Block, block_rows
from relevance_bayes.tables.encoding import raw_cells
from relevance_bayes.types.values import Cell

BlockHolding = Callable[[int], tuple[int, Block]]
"""Returns the block that contains a dataset row, with the number of its first row."""

EMPTY: Block = {}


def raw_rows(
    rows: Sequence[int], names: Sequence[str], integral: Sequence[str], holding: BlockHolding
) -> dict[int, dict[str, Cell]]:
    """Return the raw cells of dataset rows; each block is read once."""
    found: dict[int, dict[str, Cell]] = {}
    first, block = 0, EMPTY
    for row in sorted(set(rows)):
        if row >= first + block_rows(block):
            first, block = holding(row)
        found[row] = raw_cells(block, row - first, names, integral=integral)
    return found
