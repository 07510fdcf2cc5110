"""Folds and subsets of rows: pure functions of a seed and of the rows' content, never of their position.

Rows with equal inputs are in one fold, whatever their targets: otherwise a training row predicts its copy in the fold,
and the narrowest kernel scores best. Targets are not considered, since a class that recurs at some inputs would lose
all its training rows there. There are two exceptions, in which equal inputs are separate observations: all inputs are
categories with many rows for each combination (`is_cells`), and more rows have equal inputs than a fold has rows."""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from relevance_bayes.core.types import Array, Indices

Split = tuple[Indices, Indices]
"""Training rows, and rows to measure on."""

MIN_DISTINCT = 12
"""An input with fewer distinct values is taken for a category."""

ROWS_PER_CELL = 5
"""The mean number of rows for each combination of categories from which equal rows count as separate observations."""


TENTH = 0.02
"""The share of all rows by which a tenth may differ from one: of 20,000 distinct rows nine standard deviations."""


KEYED_ROWS = 4_096
"""Rows whose keys are computed at once, which bounds the memory for copies."""


def content_keys(values: Array, seed: int, more: Array | None = None) -> NDArray[np.uint64]:
    """A 64-bit key for each row of values (N, k), whatever its position: splitmix64 over the bits of its numbers.

    `more` (N,) or (N, K) are columns that follow those of the values.
    """
    parts = [values] if more is None else [values, more if more.ndim == 2 else more[:, None]]
    keys = np.full(len(values), seed, np.uint64)
    for first in range(0, len(values), KEYED_ROWS):
        stop = first + KEYED_ROWS
        some = _mixed(keys[first:stop])
        for part in parts:
            for column in (part[first:stop] + 0.0).T:  # + 0.0 turns -0.0 into 0.0
                some = _mixed(some ^ np.ascontiguousarray(column).view(np.uint64))
        keys[first:stop] = some
    return keys


def _mixed(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    keys = keys + np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(keys ^ (keys >> np.uint64(31)))


def subset(X: Array, t: Array, size: int, seed: int) -> Indices:
    """At most `size` rows of X (N, d) and t (N,), drawn by content, in their order."""
    return np.arange(len(t)) if len(t) <= size else np.sort(first_by_content(X, t, size, seed))


def by_content(X: Array, t: Array, seed: int) -> Indices:
    """All rows (N,), in an order that depends only on the content of X (N, d) and t (N,)."""
    return np.argsort(content_keys(X, seed, t), kind="stable")


def first_by_content(X: Array, t: Array, size: int, seed: int) -> Indices:
    """The first `size` rows (n,) of `by_content` for X (N, d) and t (N,), without an order of the others."""
    keys = content_keys(X, seed, t)
    if size >= len(keys):
        return np.argsort(keys, kind="stable")
    if size == 0:
        return np.empty(0, np.intp)
    some = np.flatnonzero(keys <= np.partition(keys, size - 1)[size - 1])
    return some[np.argsort(keys[some], kind="stable")[:size]]


def drawn_rows(values: Array, size: int, seed: int) -> Indices:
    """At most `size` rows of values (N, k), drawn by content, in random order; copies are drawn as other rows are."""
    keys = content_keys(values, seed)
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.append(True, keys[order][1:] != keys[order][:-1]))[: len(keys)]
    copies = np.empty(len(keys))
    copies[order] = np.arange(len(keys)) - np.repeat(starts, np.diff(np.append(starts, len(keys))))
    halves = np.column_stack([keys >> np.uint64(32), keys & np.uint64(2**32 - 1)]).astype(np.float64)
    return np.argsort(content_keys(halves, seed, copies), kind="stable")[:size]


def random_folds(X: Array, t: Array, folds: int, seed: int, *, stratified: bool = False) -> Iterator[Split]:
    """Random folds: each row is measured once, and rows with equal inputs are in one fold (see above).

    Where they are `stratified`, or targets t (N,) recur as classes do, every fold has its share of each value.
    """
    keys = content_keys(X, seed, t)
    recurring, values = np.unique(t, return_inverse=True)
    different = len(np.unique(keys))
    is_stratified = stratified or len(recurring) <= max(2, different // folds)
    strata = values if is_stratified else np.zeros(len(t), np.intp)
    clusters = _clusters(X, keys, len(t) // folds)
    if clusters is None:
        order, fold = np.lexsort((keys, strata)), np.empty(len(t), np.intp)
        fold[order] = np.arange(len(t)) % folds
    else:
        fold = _assigned(clusters, strata, keys, folds)
    return _splits(fold, folds)


def random_tenth(X: Array, t: Array, seed: int, *, stratified: bool = False) -> Split:
    """About nine tenths of the rows of X (N, d) and t (N,), and one tenth, whose inputs have the smallest keys.

    The key of a row's inputs decides alone.

    Where that is no tenth, since many rows have equal inputs, where all inputs are categories, and where it is to be
    `stratified`, it is the first of ten folds.
    """
    if not stratified:
        keys = content_keys(X, seed)
        chosen = keys < np.uint64(2**64 // 10)
        fold = np.flatnonzero(chosen)
        is_tenth = abs(len(fold) - len(X) / 10.0) < TENTH * len(X)
        if is_tenth and not is_cells(X[fold], len(np.unique(keys[fold]))):
            return np.flatnonzero(~chosen), fold
    return next(random_folds(X, t, 10, seed, stratified=stratified))


def _clusters(X: Array, keys: NDArray[np.uint64], share: int) -> Indices | None:
    """A code (N,) for each row, the same for rows of one cluster; None where each row is a cluster of its own."""
    codes, sizes = _codes(X)
    if sizes.max(initial=1) == 1 or is_cells(X, len(sizes)):
        return None
    apart = (sizes > max(share, 1))[codes]
    codes[apart] = len(sizes) + np.argsort(np.argsort(keys[apart], kind="stable"), kind="stable")
    return codes


def _codes(X: Array) -> tuple[Indices, Indices]:
    """A code (N,) for each row of X (N, d), the same for equal rows, and how many rows have each code."""
    _, codes, sizes = np.unique(content_keys(X, 0), return_inverse=True, return_counts=True)
    return codes.astype(np.intp), sizes


def is_cells(X: Array, places: int) -> bool:
    """True where the rows of X (N, d), at so many `places`, are observations of few combinations of categories."""
    return len(X) >= ROWS_PER_CELL * places and all(len(np.unique(column)) < MIN_DISTINCT for column in X.T)


def _assigned(clusters: Indices, strata: Indices, keys: NDArray[np.uint64], folds: int) -> Indices:
    """The fold (N,) of each row: the largest clusters first, each to the fold with the fewest rows of its strata."""
    rows = np.lexsort((keys, clusters))
    parts = np.split(rows, np.flatnonzero(np.diff(clusters[rows])) + 1)
    sizes, firsts = np.array([len(part) for part in parts]), np.array([part[0] for part in parts])
    counts = np.zeros((folds, int(strata.max(initial=0)) + 1))
    fold = np.empty(len(clusters), np.intp)
    for cluster in np.lexsort((keys[firsts], strata[firsts], -sizes)):
        of = strata[parts[cluster]]
        smallest = np.lexsort((counts.sum(axis=1), counts[:, of].sum(axis=1)))[0]
        np.add.at(counts[smallest], of, 1.0)
        fold[parts[cluster]] = smallest
    return fold


def distinct(X: Array, t: Array) -> Indices:
    """One row for each distinct row of X (N, d), the first by content, in their order."""
    codes, sizes = _codes(X)
    if len(sizes) == len(X):
        return np.arange(len(X))
    order = np.lexsort((content_keys(t[:, None], 0), codes))
    return np.sort(order[np.append(0, np.flatnonzero(np.diff(codes[order])) + 1)])


def without_copies(X: Array, splits: Iterable[Split]) -> Iterator[Split]:
    """The splits of X (N, d) without training rows whose inputs recur among the measured rows."""
    codes, sizes = _codes(X)
    recur = len(sizes) < len(X) and not is_cells(X, len(sizes))
    for others, fold in splits:
        yield others[~np.isin(codes[others], codes[fold])] if recur else others, fold


def group_folds(groups: Array, folds: int, seed: int) -> Iterator[Split]:
    """Folds of whole groups, by the codes groups (N,): the largest first, each to the smallest fold."""
    codes, places, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    keys = content_keys(codes[:, None], seed)
    counts = np.zeros(folds)
    assigned = np.empty(len(codes), np.intp)
    for group in np.lexsort((keys, -sizes)):
        assigned[group] = counts.argmin()
        counts[assigned[group]] += sizes[group]
    return _splits(assigned[places], folds)


def ordered_folds(times: Array, folds: int) -> Iterator[Split]:
    """Folds in time: times (N,) are cut into folds + 1 stretches, each predicted from all before it.

    Rows of one time are in one stretch.
    """
    edges = np.quantile(times, np.arange(1, folds + 1) / (folds + 1))
    stretch = np.searchsorted(edges, times, side="right")
    return ((np.flatnonzero(stretch < k), np.flatnonzero(stretch == k)) for k in range(1, folds + 1))


def _splits(fold: Indices, folds: int) -> Iterator[Split]:
    """One at a time: together they are `folds` numbers for each row."""
    return ((np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(folds))
