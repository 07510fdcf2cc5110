"""Which rows are kept apart: pure functions of a seed and of what stands in the rows, never of their position."""

import numpy as np
from numpy.typing import NDArray

from app.sparse_bayes.types import Array, Indices

Split = tuple[Indices, Indices]
"""Rows to learn from, rows to measure on."""


def content_keys(values: Array, seed: int) -> NDArray[np.uint64]:
    """A 64-bit number for each row of values (N, k), the same wherever it stands: splitmix64 over its numbers' bits."""
    keys = _mixed(np.full(len(values), seed, np.uint64))
    for column in (values + 0.0).T:  # + 0.0 makes -0.0 and 0.0 one
        keys = _mixed(keys ^ np.ascontiguousarray(column).view(np.uint64))
    return keys


def _mixed(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    keys = keys + np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(keys ^ (keys >> np.uint64(31)))


def subset(X: Array, t: Array, size: int, seed: int) -> Indices:
    """At most `size` rows of X (N, d) and t (N,), drawn by content, in the order in which they stand."""
    return np.arange(len(t)) if len(t) <= size else np.sort(by_content(X, t, seed)[:size])


def by_content(X: Array, t: Array, seed: int) -> Indices:
    """All rows (N,), in an order that only what stands in X (N, d) and t (N,) decides."""
    return np.argsort(content_keys(np.column_stack([X, t]), seed), kind="stable")


def random_folds(X: Array, t: Array, folds: int, seed: int, *, stratified: bool = False) -> list[Split]:
    """Each row is measured on once. Where they are `stratified` every fold gets its share of each value of t (N,).

    So it does of two values, as two classes have.
    """
    keys = content_keys(np.column_stack([X, t]), seed)
    by_value = stratified or len(np.unique(t)) == 2
    order = np.lexsort((keys, t if by_value else np.zeros(len(t))))
    fold = np.empty(len(t), np.intp)
    fold[order] = np.arange(len(t)) % folds
    return _splits(fold, folds)


def group_folds(groups: Array, folds: int, seed: int) -> list[Split]:
    """Rows with one code in groups (N,) stay together.

    The largest groups are dealt first, each to the fold that has least.
    """
    codes, places, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    keys = content_keys(codes[:, None], seed)
    held = np.zeros(folds)
    dealt = np.empty(len(codes), np.intp)
    for group in np.lexsort((keys, -sizes)):
        dealt[group] = held.argmin()
        held[dealt[group]] += sizes[group]
    return _splits(dealt[places], folds)


def ordered_folds(times: Array, folds: int) -> list[Split]:
    """The past predicts the future: cut into folds + 1 stretches of times (N,).

    Each measured on by what was learned from all before it.

    Rows of one time are never parted.
    """
    edges = np.quantile(times, np.arange(1, folds + 1) / (folds + 1))
    stretch = np.searchsorted(edges, times, side="right")
    return [(np.flatnonzero(stretch < k), np.flatnonzero(stretch == k)) for k in range(1, folds + 1)]


def _splits(fold: Indices, folds: int) -> list[Split]:
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(folds)]
