"""The rows of a training: a block at a time, samples of them, their folds, and the steps of a training.

A pass over all rows is a reduction: a pure function of a block, whose results add. Blocks are of BLOCK_ROWS rows by
global row number, and their results are added in the order of one binary tree over the blocks' numbers (pairwise
summation, a tree reduction): neither threads nor a division of the blocks among workers changes a bit of the sum.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import chain, islice
from math import sqrt
from operator import add
from typing import Generic, Literal, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from relevance_bayes.core.errors import SparseBayesError
from relevance_bayes.core.folds import (
    Split,
    content_keys,
    group_folds,
    ordered_folds,
    random_folds,
    random_tenth,
    without_copies,
)
from relevance_bayes.core.types import Array, Indices

BLOCK_ROWS = 4_096
"""Rows of a block; the last has the remainder. Another number would change the rounding of sums."""


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Consecutive rows, X (n, d), t (n,) or (n, K), the first of which is row `first` of all.

    `precisions` (n,) of their noise over beta, where the rows' differ and are known.
    """

    first: int
    X: Array
    t: Array
    precisions: Array | None = None

    def __len__(self) -> int:
        return len(self.t)

    @property
    def numbers(self) -> Indices:
        """The rows' numbers among all rows, (n,)."""
        return np.arange(self.first, self.first + len(self))

    def weighted(self, Y: Array) -> Array:
        """Y (n, k) or (n,), each row times its noise precision over beta."""
        return Y if self.precisions is None else (self.precisions * Y.T).T

    @cached_property
    def log_precisions(self) -> float:
        """The sum over rows of log of the noise precision over beta."""
        return 0.0 if self.precisions is None else float(np.log(self.precisions).sum())

    def pieces(self, max_rows: int) -> "list[RowBlock]":
        """The same rows, at most so many at a time, in their order."""
        if len(self) <= max_rows:
            return [self]
        return [self._piece(start, start + max_rows) for start in range(0, len(self), max_rows)]

    def _piece(self, start: int, stop: int) -> "RowBlock":
        precisions = None if self.precisions is None else self.precisions[start:stop]
        return RowBlock(self.first + start, self.X[start:stop], self.t[start:stop], precisions)


class Summable(Protocol):
    """The result of a reduction: a frozen dataclass of arrays.

    `left + right` is the result for the rows of both, of which those of `right` come later.
    """

    def __add__(self, other: Self, /) -> Self: ...


S = TypeVar("S", bound=Summable)
R = TypeVar("R", bound=Summable, covariant=True)
T = TypeVar("T")


class Reduction(Protocol[R]):
    """The reduction of some rows by a pass: a frozen dataclass of its parameters, pure, called by several threads."""

    def __call__(self, block: RowBlock, /) -> R: ...


class RowSource(Protocol):
    """N rows whose targets are in memory, and whose inputs X (N, d) need not be: they are read through `reduce`."""

    @property
    def inputs(self) -> int:
        """d."""

    @property
    def t(self) -> Array:
        """The targets, (N,) or (N, K)."""

    @property
    def precisions(self) -> Array | None:
        """Those of the rows' noise over beta, (N,), where they differ and are known."""

    @property
    def threads(self) -> int:
        """The number of threads that share a pass."""

    def reduce(self, reduction: Reduction[S], max_rows: int = BLOCK_ROWS) -> S:
        """The sum of the results for all blocks, in the order of `PairwiseSum`; see `reduce_blocks`."""

    def every(self) -> RowBlock:
        """All rows as one block, for computations that need all of X at once: in memory, or mapped."""

    def take_inputs(self, chosen: Indices) -> Array:
        """The inputs (n, d) of some rows, in memory, or mapped where they are many."""

    def with_targets(self, t: Array, precisions: Array | None) -> "RowSource":
        """The same inputs with other targets and noise precisions."""


class PairwiseSum(Generic[S]):
    """A sum of the results for blocks, independent of the order in which they are added and of the workers.

    Node i of level l is the sum over the blocks from i 2^l to (i + 1) 2^l - 1: left child plus right child. When
    all blocks are added, the remaining trees (of the binary digits of their number) are summed from the last.
    """

    def __init__(self) -> None:
        self._nodes: dict[tuple[int, int], S] = {}

    def add(self, block: int, result: S) -> None:
        """Add the result for a block, by its number."""
        self._add(0, block, result)

    def merge(self, other: "PairwiseSum[S]") -> None:
        """Add the results of another sum, of other blocks."""
        for (level, number), result in other._nodes.items():
            self._add(level, number, result)

    def _add(self, level: int, number: int, result: S) -> None:
        while (sibling := self._nodes.pop((level, number ^ 1), None)) is not None:
            result = sibling + result if number % 2 else result + sibling
            level, number = level + 1, number // 2
        if (level, number) in self._nodes:
            raise SparseBayesError(f"expected each block of rows once, got those of node {(level, number)} twice")
        self._nodes[level, number] = result

    def total(self, rows: int) -> S:
        """The sum over all blocks of so many rows."""
        blocks = n_blocks(rows)
        present = sum(1 << level for level, _ in self._nodes)
        if present != blocks:
            raise SparseBayesError(f"expected the results of {blocks} blocks of rows, got {present}")
        last, *earlier = sorted(self._nodes, key=lambda node: node[1] << node[0], reverse=True)
        result = self._nodes[last]
        for node in earlier:
            result = self._nodes[node] + result
        return result


def n_blocks(rows: int) -> int:
    """The number of blocks of so many rows."""
    return -(-rows // BLOCK_ROWS)


def block_bounds(number: int, rows: int) -> tuple[int, int]:
    """The number of the first row of a block of so many rows, and that of the first after it."""
    return number * BLOCK_ROWS, min((number + 1) * BLOCK_ROWS, rows)


def reduce_blocks(
    block: Callable[[int], RowBlock],
    numbers: Iterable[int],
    reduction: Reduction[S],
    max_rows: int = BLOCK_ROWS,
    *,
    threads: int = 1,
) -> PairwiseSum[S]:
    """The results for some blocks, by number: the sum of those for their pieces of at most `max_rows`, in order.

    `threads` blocks at a time, each read by `block` where it is needed. The last blocks, where they are fewer, are
    divided among the threads by pieces: one block of many pieces would else leave all other threads idle.
    """

    def of_block(number: int) -> S:
        return sum_in_order(map(reduction, block(number).pieces(max_rows)))

    found, some = PairwiseSum[S](), list(numbers)
    if threads == 1:
        for number in some:
            found.add(number, of_block(number))
        return found
    whole = len(some) - len(some) % threads
    with ThreadPoolExecutor(threads) as pool:
        for first in range(0, whole, threads):
            now = some[first : first + threads]
            for number, result in zip(now, pool.map(of_block, now), strict=True):
                found.add(number, result)
        last = [read.pieces(max_rows) for read in pool.map(block, some[whole:])]
        results = pool.map(reduction, chain.from_iterable(last))
        for number, pieces in zip(some[whole:], last, strict=True):
            found.add(number, sum_in_order(islice(results, len(pieces))))
    return found


def sum_in_order(results: Iterable[S]) -> S:
    """The first result plus the second, plus the third, and so on."""
    return reduce(add, results)


@dataclass(frozen=True, eq=False)
class ArrayRows:
    """Rows in memory: X (N, d), in any memory order, t (N,) or (N, K); `threads` share each pass."""

    X: Array
    t: Array
    precisions: Array | None = None
    threads: int = 1

    @property
    def inputs(self) -> int:
        """d."""
        return int(self.X.shape[1])

    def reduce(self, reduction: Reduction[S], max_rows: int = BLOCK_ROWS) -> S:
        """The sum of the results for all blocks."""
        rows = len(self.t)
        return reduce_blocks(self.block, range(n_blocks(rows)), reduction, max_rows, threads=self.threads).total(rows)

    def block(self, number: int) -> RowBlock:
        """A block by its number."""
        first, stop = block_bounds(number, len(self.t))
        precisions = None if self.precisions is None else self.precisions[first:stop]
        return RowBlock(first, np.ascontiguousarray(self.X[first:stop]), self.t[first:stop], precisions)

    def every(self) -> RowBlock:
        """All rows as one block."""
        return RowBlock(0, self.X, self.t, self.precisions)

    def take_inputs(self, chosen: Indices) -> Array:
        """The inputs (n, d) of some rows."""
        return np.asarray(self.X[chosen])

    def with_targets(self, t: Array, precisions: Array | None) -> "ArrayRows":
        """The same inputs with other targets and noise precisions."""
        return replace(self, t=t, precisions=precisions)


@dataclass(frozen=True, eq=False)
class InputMoments:
    """Of the inputs of n `rows`: their `mean` (d,) and the sums of squared deviations `squares` (d,) [CHAN1983].

    [CHAN1983] is Chan, Golub & LeVeque, Algorithms for computing the sample variance, The American Statistician 37.
    """

    rows: int
    mean: Array
    squares: Array

    @classmethod
    def of(cls, block: RowBlock) -> "InputMoments":
        """Those of a block."""
        mean = block.X.mean(axis=0)
        return cls(len(block), mean, np.square(block.X - mean).sum(axis=0))

    def __add__(self, other: Self, /) -> "InputMoments":
        rows, apart = self.rows + other.rows, other.mean - self.mean
        mean = self.mean + apart * (other.rows / rows)
        squares = self.squares + other.squares + np.square(apart) * (self.rows * other.rows / rows)
        return InputMoments(rows, mean, squares)

    @property
    def sd(self) -> Array:
        """The inputs' standard deviations, (d,)."""
        return np.sqrt(self.squares / self.rows)


@dataclass(frozen=True, eq=False)
class Extremes:
    """The least and the greatest of each input, `lower` (d,) and `upper` (d,)."""

    lower: Array
    upper: Array

    @classmethod
    def of(cls, block: RowBlock) -> "Extremes":
        """Those of a block."""
        return cls(block.X.min(axis=0), block.X.max(axis=0))

    def __add__(self, other: Self, /) -> "Extremes":
        return Extremes(np.minimum(self.lower, other.lower), np.maximum(self.upper, other.upper))


@dataclass(frozen=True)
class Finite:
    """True where the inputs of some rows are finite: a sum is the conjunction."""

    value: bool

    @classmethod
    def of(cls, block: RowBlock) -> "Finite":
        """Of a block."""
        return cls(bool(np.isfinite(block.X).all()))

    def __add__(self, other: Self, /) -> "Finite":
        return Finite(self.value and other.value)


@dataclass(frozen=True, eq=False)
class Rows:
    """X (N, d) and t (N,); classes are 0.0 and 1.0. Finite.

    `noise_sd` (N,), above 0, is each row's where the likelihood has it as known, else None. `source` has the same rows
    a block at a time, where X is mapped from a file.
    """

    X: Array
    t: Array
    noise_sd: Array | None = None
    source: RowSource | None = None

    def blocks(self, threads: int) -> RowSource:
        """All rows a block at a time; `threads` share the passes over those in memory."""
        return ArrayRows(self.X, self.t, threads=threads) if self.source is None else self.source

    def with_targets(self, t: Array) -> "Rows":
        """The same inputs with other targets (N,), whose noise is not known."""
        return Rows(self.X, t, source=None if self.source is None else self.source.with_targets(t, None))

    def take(self, chosen: Indices) -> "Rows":
        """Some of the rows."""
        X = self.X[chosen] if self.source is None else self.source.take_inputs(chosen)
        return Rows(X, self.t[chosen], None if self.noise_sd is None else self.noise_sd[chosen])


@dataclass(frozen=True)
class Folding:
    """The folds of cross-validation. `keys` (N,).

    Group codes for "groups", positions in time for "order", None for "random". Where they are `stratified`, as classes
    are, every random fold has its share of each value of t.
    """

    by: Literal["random", "groups", "order"] = "random"
    keys: Array | None = None
    stratified: bool = False

    def splits(self, rows: Rows, folds: int, seed: int) -> Iterator[Split]:
        """Pairs of training rows and measured rows, equal inputs on one side, one at a time.

        By groups, training rows whose inputs recur in the measured group are left out. By order they are kept, since an
        earlier copy of a row is known when it is predicted.
        """
        if self.by == "random" or self.keys is None:
            return random_folds(rows.X, rows.t, folds, seed, stratified=self.stratified)
        if self.by == "order":
            return ordered_folds(self.keys, folds)
        return without_copies(rows.X, group_folds(self.keys, folds, seed))

    def tenth(self, rows: Rows, seed: int) -> Split:
        """About nine tenths of the rows for training and one tenth to measure: whole groups, or the last in time."""
        if self.by == "order" and self.keys is not None:
            late = self.keys >= np.quantile(self.keys, 0.9)
            return np.flatnonzero(~late), np.flatnonzero(late)
        if self.by == "groups" and self.keys is not None:
            return next(self.splits(rows, 10, seed))
        return random_tenth(rows.X, rows.t, seed, stratified=self.stratified)

    def held_out(self, size: int, seed: int) -> Indices | None:
        """At most `size` rows (n,) to hold out: whole groups, or the last in time; None where rows are drawn by
        content."""
        if self.by == "random" or self.keys is None:
            return None
        if self.by == "order":
            return np.flatnonzero(self.keys >= np.sort(self.keys)[-size])
        codes, groups, sizes = np.unique(self.keys, return_inverse=True, return_counts=True)
        chosen, total = list[int](), 0
        for group in np.argsort(content_keys(codes[:, None], seed), kind="stable").tolist():
            if total + sizes[group] <= size:
                chosen.append(group)
                total += int(sizes[group])
        return np.flatnonzero(np.isin(groups, chosen or [int(sizes.argmin())]))

    def take(self, chosen: Indices) -> "Folding":
        """The folding of some of the rows."""
        return replace(self, keys=None if self.keys is None else self.keys[chosen])


@dataclass(frozen=True)
class Step:
    """The progress of a training, in the units of t: `completed` of `total` (None: not known) `unit`s of `phase`.

    `share` is that of the current unit which is complete, 0 where it is not counted. `announced` are the numbers of the
    alternatives that are expected to be compared, None where nothing is known of them yet.
    """

    phase: str
    completed: int
    total: int | None
    unit: str
    log_marginal_likelihood: float | None = None
    functions: int | None = None
    noise_sd: float | None = None
    share: float = 0.0
    announced: tuple[int, ...] | None = None


FIT = Step("fit", 0, None, "iterations")
"""The one with which a fit to all rows begins."""


def reported_as(step: Step, steps: Generator[Step, None, T]) -> Generator[Step, None, T]:
    """The result of `steps` that are parts of `step`, as which each is reported, with its own functions and share;
    `step` is first."""
    yield step
    try:
        while True:
            part = next(steps)
            yield replace(step, functions=part.functions, share=part.share)
    except StopIteration as ended:
        result: T = ended.value
        return result
    finally:
        steps.close()


MIN_SAMPLE = 8_192
"""Rows drawn in one pass: smaller samples are part of them, without another pass."""


@dataclass(frozen=True, eq=False)
class KeyedRows:
    """At most `size` rows, those of the smallest `keys` (k,), in their order; of equal keys the earlier row is first.

    `numbers` (k,) are the rows' among all rows, and X (k, d) their inputs. A sum has the smallest keys of both parts.
    """

    size: int
    keys: NDArray[np.uint64]
    numbers: Indices
    X: Array

    def __add__(self, other: Self, /) -> "KeyedRows":
        keys = np.concatenate([self.keys, other.keys])
        order = np.argsort(keys, kind="stable")[: self.size]
        numbers, X = np.concatenate([self.numbers, other.numbers]), np.concatenate([self.X, other.X])
        return KeyedRows(self.size, keys[order], numbers[order], X[order])


@dataclass(frozen=True)
class SmallestKeys:
    """The reduction to the `size` rows of the smallest keys: of inputs and targets together, and a `seed`.

    With a `limit` only of rows whose keys are below it, which may be fewer.
    """

    size: int
    seed: int
    limit: int | None = None

    def __call__(self, block: RowBlock, /) -> KeyedRows:
        keys = content_keys(block.X, self.seed, block.t)
        if self.limit is None:
            order = np.argsort(keys, kind="stable")[: self.size]
        else:
            below = np.flatnonzero(keys < np.uint64(self.limit))
            order = below[np.argsort(keys[below], kind="stable")[: self.size]]
        return KeyedRows(self.size, keys[order], block.first + order, block.X[order])


@dataclass(frozen=True, eq=False)
class Sample:
    """Some of the rows, in their order: `numbers` (k,) and inputs X (k, d)."""

    numbers: Indices
    X: Array


class Sampler:
    """Samples of the rows of a source, drawn by content and a seed: each is part of every greater one."""

    def __init__(self, source: RowSource, seed: int) -> None:
        self._source, self._seed = source, seed
        self._found: KeyedRows | None = None

    def sample(self, size: int) -> Sample:
        """At most so many rows; all of them where they are no more."""
        rows = len(self._source.t)
        if rows <= size:
            return Sample(np.arange(rows), np.ascontiguousarray(self._source.every().X))
        found = self._smallest(size)
        order = np.argsort(found.numbers[:size])
        return Sample(found.numbers[order], found.X[order])

    def _smallest(self, size: int) -> KeyedRows:
        if self._found is None or self._found.size < size:
            self._found = self._drawn(max(size, MIN_SAMPLE))
        return self._found

    def _drawn(self, size: int) -> KeyedRows:
        """The rows of the smallest keys. These are uniform: so many are below a limit that each block has few of them.

        But for many equal rows, whose keys are equal too, and one pass in 1e9; these take another pass.
        """
        limit = int((size + 6.0 * sqrt(size)) / len(self._source.t) * 2.0**64)
        if limit < 2**64:
            found = self._source.reduce(SmallestKeys(size, self._seed, limit))
            if len(found.keys) == size:
                return found
        return self._source.reduce(SmallestKeys(size, self._seed))
