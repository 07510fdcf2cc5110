"""The rows of a training, how they are split, and rows that recur.

Each row has a rank, an unsigned 64-bit number; the rows of smallest rank are held out. The cut follows from all ranks,
so two passes over a table are enough, whatever its division into blocks.

A model trained on one of two equal rows knows the other: held out, that measures memorisation. Where all inputs are
categories with many rows for each combination (`is_cells`), or more rows are equal than are to be held out, each row is
an observation of its own, and they are divided.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from relevance_bayes.core.folds import MIN_DISTINCT, ROWS_PER_CELL
from relevance_bayes.core.types import Array, Mask
from relevance_bayes.plans.inputs import Placed, gap_faults, is_constant
from relevance_bayes.plans.requests import (
    MAX_FOLDS,
    MIN_FOLDS,
    GroupSplit,
    OrderSplit,
    RandomSplit,
    Split,
    SupervisedRequest,
)
from relevance_bayes.plans.target import unknown_column
from relevance_bayes.tables.columns import Block, CategoryColumn, Column, ColumnSummary, TableSummary, block_rows
from relevance_bayes.tables.encoding.table import real_values
from relevance_bayes.types.errors import Fault
from relevance_bayes.types.values import Missing


def split_faults(dataset: TableSummary, split: Split, *, target: str) -> list[Fault]:
    """Return the faults of a split's column."""
    if isinstance(split, RandomSplit) or split.column is None:
        return []
    name = split.column
    column = dataset.column(name)
    if column is None:
        wrong = unknown_column(dataset, name)
    elif name == target:
        wrong = f"`{name}` is the target, so it can't be the split's column."
    elif isinstance(split, OrderSplit) and column.kind not in {"number", "timestamp"}:
        kind = "texts" if column.kind == "category" else "true and false"
        wrong = f"`{name}` has {kind}; rows can be ordered only by numbers or timestamps."
    elif is_constant(column) or column.missing == dataset.rows:
        wrong = f"`{name}` is the same in every row, so it can't divide rows."
    else:
        return []
    return [Fault(wrong, "/split/column", column=name)]


def row_faults(
    dataset: TableSummary, request: SupervisedRequest, missing: Missing, needed: Placed, inputs: Placed
) -> list[Fault]:
    """Return faults for missing values that are refused, and too few rows.

    `needed` and `inputs` are pointers and columns; rows without one of those needed are left out.
    """
    gaps = gap_faults(dataset, [*needed, *inputs]) if missing == "error" else []
    dropped_by = {"error": [], "drop_rows": [*needed, *inputs], "indicator": needed}[missing]
    dropping = [column for _, column in dropped_by]
    shares = share_faults(dataset, request.holdout, dropping)
    return [*gaps, *(shares or _fold_faults(dataset, request, dropping))]


def share_faults(dataset: TableSummary, holdout: float, dropping: Sequence[ColumnSummary]) -> list[Fault]:
    """Return faults for shares that leave fewer than two training rows; rows with a missing value in one of `dropping`
    are left out before."""
    if not 0 <= holdout < 1:
        return [Fault(f"Expected a `holdout` from 0 to below 1, got {holdout}.", "/holdout")]
    worst = max(dropping, key=lambda column: column.missing, default=None)
    rows = dataset.rows - (worst.missing if worst else 0)
    if rows < 2 and worst is not None:
        detail = f"Without the rows in which `{worst.name}` is missing fewer than two are left; leave it out."
        return [Fault(detail, "/missing", column=worst.name)]
    kept = rows - held_out_rows(rows, holdout)
    if kept < 2:
        return [Fault(f"Holding out {holdout:g} of {rows} rows leaves {kept}; at least two are needed.", "/holdout")]
    return []


def _fold_faults(dataset: TableSummary, request: SupervisedRequest, dropping: Sequence[ColumnSummary]) -> list[Fault]:
    """Return faults for too few or too many folds, or more than rows or groups; the held-out share is valid."""
    if request.validation is None:
        return []
    folds = request.validation.folds
    if not MIN_FOLDS <= folds <= MAX_FOLDS:
        detail = f"Expected from {MIN_FOLDS} to {MAX_FOLDS} folds, got {folds}."
        return [Fault(detail, "/validation/folds")]
    rows = dataset.rows - max((column.missing for column in dropping), default=0)
    rows -= held_out_rows(rows, request.holdout)
    needed = folds + 1 if isinstance(request.split, OrderSplit) else folds
    if rows < needed:
        detail = f"{folds} folds need at least {needed} rows to train on, and there are {rows}; use fewer folds."
        return [Fault(detail, "/validation/folds")]
    if not isinstance(request.split, GroupSplit):
        return []
    column = dataset.column(request.split.column)
    if column is None or column.distinct is None:
        return []
    groups = column.distinct - (1 if request.holdout > 0 else 0)
    if groups >= folds:
        return []
    left = "are left to train on" if request.holdout > 0 else "are there"
    detail = f"{folds} folds need as many groups of `{column.name}`, and at most {groups} {left}; use fewer folds."
    return [Fault(detail, "/validation/folds", column=column.name)]


Ranks = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_SIGN = np.uint64(1 << 63)
_EXACT_BITS = np.uint64(11)
"""A hash without its last 11 bits is an integer that float64 represents exactly."""


def held_out_rows(rows: int, share: float) -> int:
    """Return the number of `rows` rows that a share in [0, 1) holds out: at least one when it is above 0."""
    return max(1, round(share * rows)) if share > 0 else 0


def ranks(split: Split, block: Block, *, numbers: Array, names: Iterable[str], seed: int) -> Ranks:
    """Return the rank (N,) of each row of a block; `numbers` (N,) are its rows' indices in the table, `names` its
    content.

    Random: a hash of the content. By column: a hash of the group. By order: the later a row, the smaller.
    """
    match split:
        case RandomSplit():
            return content_hash(block, names, seed)
        case GroupSplit(column=column):
            return content_hash(block, (column,), seed)
        case OrderSplit():
            return ~_in_order(_times(split, block, numbers))


def fold_keys(split: Split, block: Block, *, numbers: Array) -> Array:
    """Return the keys of folds (N,): a number for each group, or the position in time; 0 at random."""
    match split:
        case RandomSplit():
            return np.zeros(block_rows(block))
        case GroupSplit(column=column):
            return (content_hash(block, (column,), 0) >> _EXACT_BITS).astype(np.float64)
        case OrderSplit():
            return _times(split, block, numbers)


@dataclass(frozen=True)
class Cut:
    """The rows of rank below `rank`, and the first `ties` of those of equal rank, are held out."""

    rank: int
    ties: int

    def apply(self, block_ranks: Ranks) -> tuple[Mask, "Cut"]:
        """Return the rows (N,) of a block to hold out, and the cut for the following rows."""
        level = np.uint64(self.rank)
        held_out = block_ranks < level
        taken = np.flatnonzero(block_ranks == level)[: self.ties]
        held_out[taken] = True
        return held_out, replace(self, ties=self.ties - len(taken))


NOTHING = Cut(0, 0)


def cut(split: Split, all_ranks: Ranks, share: float) -> Cut:
    """Return the cut that holds out about the share of the rows (N,). `all_ranks` is sorted in place.

    Random and by column: the nearest number of whole sets of one rank (rows that stay together, or groups), at least
    one on either side; exactly `held_out_rows` where all ranks differ. By order: rows of one time stay together, in the
    past where the cut is among them, unless nothing would be left to hold out. `NOTHING` where the share is 0, or all
    rows are one group or one time.
    """
    required = held_out_rows(len(all_ranks), share)
    if not required or len(all_ranks) < 2:
        return NOTHING
    all_ranks.sort()
    starts = np.flatnonzero(np.r_[True, all_ranks[1:] != all_ranks[:-1]])
    ends = np.r_[starts[1:], len(all_ranks)]
    if len(ends) < 2:
        return NOTHING
    candidates = ends[:-1]
    if not isinstance(split, OrderSplit):
        chosen = int(np.argmin(np.abs(candidates - required)))
    else:
        chosen = max(0, int(np.searchsorted(candidates, required, side="right")) - 1)
    return Cut(int(all_ranks[starts[chosen]]), int(ends[chosen] - starts[chosen]))


def content_hash(block: Block, names: Iterable[str], seed: int) -> Ranks:
    """Return a hash (N,) of each row's values in the named columns, in any order; 0.0 and -0.0 are equal."""
    total = np.zeros(block_rows(block), np.uint64)
    for name in names:
        total += mixed(cell_hashes(block[name]) ^ np.uint64(_text_hash(f"{seed}/{name}")))
    return mixed(total)


def cell_hashes(column: Column) -> Ranks:
    """Return the cells (N,) of a column as bits: of a number, 0.0 and -0.0 equal, or a hash of a text."""
    if isinstance(column, CategoryColumn):
        hashes = [_text_hash(label) for label in column.labels]
        return np.array([*hashes, 0], np.uint64)[column.codes]
    values = real_values(column) + 0.0
    return np.where(np.isnan(values), np.nan, values).view(np.uint64)


def _text_hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def mixed(values: Ranks) -> Ranks:
    """Return the finaliser of splitmix64 [STEELE2014]: each bit of the input flips each bit of the output with
    probability 1/2."""
    mixed = values + _GOLDEN
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _times(split: OrderSplit, block: Block, numbers: Array) -> Array:
    if split.column is None:
        return numbers
    column = block[split.column]
    if isinstance(column, CategoryColumn):
        raise TypeError(f"column {split.column!r}: expected numbers or timestamps to order by, got texts")
    return real_values(column)


def _in_order(values: Array) -> Ranks:
    """Return integers (N,) in the order of the values: the bits of a float64, inverted for negative ones."""
    bits = (values + 0.0).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


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
