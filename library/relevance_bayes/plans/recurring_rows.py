"""Random ranks by which rows with equal inputs are held out together.

A model trained on one of two equal rows knows the other: held out, that measures memorisation. Where all inputs are
categories with many rows for each combination (`is_cells`), or more rows are equal than are to be held out, each row is
an observation of its own, and they are divided.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from relevance_bayes.core.folds import MIN_DISTINCT, ROWS_PER_CELL
from relevance_bayes.core.types import Mask
from relevance_bayes.plans.split import Ranks, mixed
from relevance_bayes.tables.columns import Block, CategoryColumn
from relevance_bayes.tables.encoding.raw import real_values


class InputLevels:
    """The distinct values of inputs, collected block by block up to a maximum."""

    def __init__(self, names: Sequence[str]) -> None:
        self._seen: dict[str, set[float | str]] = {name: set() for name in names}

    def add(self, block: Block) -> None:
        """Add the next rows."""
        for name, seen in self._seen.items():
            column = block[name]
            if len(seen) >= MIN_DISTINCT:
                continue
            if isinstance(column, CategoryColumn):
                seen.update(column.labels[code] for code in np.unique(column.codes).tolist() if code >= 0)
            else:
                seen.update(np.unique(real_values(column)).tolist())

    @property
    def is_few(self) -> bool:
        """Return whether each input has fewer than MIN_DISTINCT values."""
        return all(len(seen) < MIN_DISTINCT for seen in self._seen.values())


@dataclass
class RecurringRows:
    """The input hashes that more than one row has, with their common ranks, or whether their rows are divided.

    `places` (k,) are ascending hashes, with their `ranks` and `divided` (k,); `counts` are rows of the same content so
    far in a pass.
    """

    places: Ranks
    ranks: Ranks
    divided: Mask
    counts: Counter[int] = field(default_factory=Counter)

    @classmethod
    def of(cls, contents: Ranks, places: Ranks, *, few_levels: bool, maximum: int) -> "RecurringRows":
        """Return the recurring rows from the hashes (N,) of all rows' contents and inputs; `maximum` is that of rows
        which are held out together."""
        found, sizes = np.unique(places, return_counts=True)
        if len(found) == len(places):
            none = np.zeros(0, np.uint64)
            return cls(none, none, np.zeros(0, np.bool_))
        order = np.argsort(places, kind="stable")
        minimum = np.minimum.reduceat(contents[order], np.cumsum(sizes) - sizes)
        cells = few_levels and len(places) >= ROWS_PER_CELL * len(found)
        recur = sizes > 1
        return cls(found[recur], minimum[recur], (sizes[recur] > maximum) | cells)

    def begun(self) -> "RecurringRows":
        """Return the same with the counts of the beginning of a pass."""
        return RecurringRows(self.places, self.ranks, self.divided)

    def __call__(self, contents: Ranks, places: Ranks) -> Ranks:
        """Return the ranks (n,) of the next rows of a pass."""
        if not len(self.places):
            return contents
        at = np.minimum(np.searchsorted(self.places, places), len(self.places) - 1)
        recurs = self.places[at] == places
        whole = recurs & ~self.divided[at]
        ranks = np.where(whole, self.ranks[at], contents)
        for row in np.flatnonzero(recurs & ~whole).tolist():
            content = int(contents[row])
            if self.counts[content]:
                ranks[row] = mixed(contents[row : row + 1] ^ np.uint64(self.counts[content]))[0]
            self.counts[content] += 1
        return ranks
