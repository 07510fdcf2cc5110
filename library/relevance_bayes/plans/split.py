"""Selection of held-out rows, a function of seed and content, and of the order only where requested.

Each row has a rank, an unsigned 64-bit number; the rows of smallest rank are held out. The cut follows from all ranks,
so two passes over a table are enough, whatever its division into blocks.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from relevance_bayes.core.types import Array, Mask
from relevance_bayes.plans.requests import GroupSplit, OrderSplit, RandomSplit, Split
from relevance_bayes.tables.columns import Block, CategoryColumn, Column, block_rows
from relevance_bayes.tables.encoding.raw import real_values

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
        total += mixed(_bits(block[name]) ^ np.uint64(_text_hash(f"{seed}/{name}")))
    return mixed(total)


def _bits(column: Column) -> Ranks:
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
