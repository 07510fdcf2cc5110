"""The rows of a selection, their folds, and the steps of a training."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from relevance_bayes.core.folds import Split, group_folds, ordered_folds, random_folds, without_copies
from relevance_bayes.core.row_source import ArrayRows, RowSource
from relevance_bayes.core.types import Array, Indices


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
        return next(self.splits(rows, 10, seed))

    def take(self, chosen: Indices) -> "Folding":
        """The folding of some of the rows."""
        return replace(self, keys=None if self.keys is None else self.keys[chosen])


@dataclass(frozen=True)
class Step:
    """The progress of a training, in the units of t: `completed` of `total` (None: not known) `unit`s of `phase`."""

    phase: str
    completed: int
    total: int | None
    unit: str
    log_marginal_likelihood: float | None = None
    functions: int | None = None
    noise_sd: float | None = None


FIT = Step("fit", 0, None, "iterations")
"""The one with which a fit to all rows begins."""
