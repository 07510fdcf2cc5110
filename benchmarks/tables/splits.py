"""Rows to learn from and rows to measure on, the same for every engine."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.files import Split
from benchmarks.tables.catalogue import Task
from benchmarks.tables.table import DataTable
from relevance_bayes.core.types import Array, Indices

SPLITS = 10
TEST_SHARE = 0.2
MAX_TRAINING_ROWS = 600
"""Ten splits of 133 tables by eight engines take hours, and not days, of two cores."""

MAX_TEST_ROWS = 1_000


@dataclass(frozen=True, eq=False)
class TableSplit:
    """Rows of a table to learn from and to measure on.

    `truth` is known of generators: the mean (N,) of a quantity, or the probabilities (N, K) of classes, of all rows.
    """

    table: DataTable
    number: int
    learned: Indices
    measured: Indices
    truth: Array | None = None

    @property
    def t(self) -> Array:
        """The targets to learn from."""
        return self.table.t[self.learned]

    @property
    def t_test(self) -> Array:
        """The targets measured on."""
        return self.table.t[self.measured]

    def numbers(self) -> Split:
        """Numbers with a 0/1 column for each label, for engines that know no categories."""
        return self._split(self.table.indicators(self.learned))

    def codes(self) -> Split:
        """Numbers and codes of categories, for engines that know these."""
        return self._split(self.table.matrix())

    def _split(self, X: Array) -> Split:
        return Split(X[self.learned], self.t, X[self.measured], self.t_test)


@dataclass(frozen=True)
class Source:
    """A table, or a generator: `read` gives each of its splits, counted from 0."""

    name: str
    task: Task
    read: Callable[[int], TableSplit]


def divided(table: DataTable, number: int) -> TableSplit:
    """A fifth of the rows to measure on, by a hash of the table's name, the split and the row; each class alike.

    At most 600 rows are learned from, and 1,000 measured on. Left out of the latter are labels of categories that
    no row learned from has.
    """
    place = _places(table, number)
    order = np.argsort(place, kind="stable")
    tested = place[order] < TEST_SHARE
    learned, measured = order[~tested][:MAX_TRAINING_ROWS], order[tested][:MAX_TEST_ROWS]
    return TableSplit(table, number, np.sort(learned), np.sort(with_known_labels(table, learned, measured)))


def with_known_labels(table: DataTable, learned: Indices, measured: Indices) -> Indices:
    """The rows of `measured` all of whose labels are in rows of `learned`."""
    known = np.ones(len(measured), np.bool_)
    for column in table.columns:
        if column.labels:
            known &= np.isin(column.values[measured], column.values[learned])
    return measured[known]


def _places(table: DataTable, number: int) -> Array:
    """Each row's place (N,) among the rows of its class, or among all, from 0 to 1 in the order of the hashes."""
    hashes = np.array([_hash(table.name, number, row) for row in range(table.rows)], np.uint64)
    groups = table.t if table.classes else np.zeros(table.rows)
    places = np.empty(table.rows)
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        order = np.argsort(hashes[rows], kind="stable")
        places[rows[order]] = (np.arange(len(rows)) + 0.5) / len(rows)
    return places


def _hash(name: str, number: int, row: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{name} {number} {row}".encode()).digest()[:8], "little")
