"""Datasets of an owner: list, read by rows, delete."""

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from app.database.pages import Page, PageRequest
from app.database.transaction import OpenTransaction
from app.datasets.records import Dataset
from app.datasets.repository import DatasetRepository
from relevance_bayes.tables.columns import Block, block_rows
from relevance_bayes.tables.encoding import raw_cells
from relevance_bayes.types.values import Cell

MAX_CELLS_OF_ROWS = 100_000
"""The most cells of one response with rows."""


@dataclass(frozen=True)
class Row:
    """Row `number` (from 0) of a dataset, its cells by column name in the table's order."""

    number: int
    cells: dict[str, Cell]


@dataclass(frozen=True)
class Datasets:
    """The datasets of owners."""

    transaction: OpenTransaction

    def get(self, owner: str, dataset_id: UUID) -> Dataset:
        """Return a dataset; raises NotFoundError."""
        with self.transaction() as tx:
            return DatasetRepository(tx).get(owner, dataset_id)

    def page(self, owner: str, part: PageRequest, *, name: str | None = None) -> Page[Dataset]:
        """Return a page of datasets, of those with a name where one is given."""
        with self.transaction() as tx:
            return DatasetRepository(tx).page(owner, part, name=name)

    def rows(self, owner: str, dataset_id: UUID, *, limit: int, first: int = 0) -> tuple[Row, ...]:
        """Return at most `limit` rows from row `first` on, none after the end; raises NotFoundError.

        Fewer rows of a wide table, so that they have at most `MAX_CELLS_OF_ROWS` cells, but always one.
        """
        dataset = self.get(owner, dataset_id)
        fitting = max(MAX_CELLS_OF_ROWS // len(dataset.columns), 1)
        last = min(first + min(limit, fitting), dataset.rows)
        names = tuple(column.name for column in dataset.columns)
        whole = frozenset(column.name for column in dataset.columns if column.integral)
        found: list[Row] = []
        for first_row, block in self._blocks(dataset_id, first, last):
            rows = range(max(first, first_row), min(last, first_row + block_rows(block)))
            found.extend(Row(row, raw_cells(block, row - first_row, names, integral=whole)) for row in rows)
        return tuple(found)

    def _blocks(self, dataset_id: UUID, first: int, last: int) -> Iterator[tuple[int, Block]]:
        """Return the blocks with rows first..last-1, each read in a transaction of its own."""
        if first >= last:
            return
        with self.transaction() as tx:
            number = DatasetRepository(tx).block_holding(dataset_id, first)
        while first < last:
            with self.transaction() as tx:
                stored = DatasetRepository(tx).block(dataset_id, number)
            if stored is None:  # deleted meanwhile
                return
            yield stored
            first = stored[0] + block_rows(stored[1])
            number += 1

    def delete(self, owner: str, dataset_id: UUID) -> None:
        """Delete a dataset; raises NotFoundError, InUseError while an unfinished job needs it."""
        with self.transaction() as tx:
            DatasetRepository(tx).delete(owner, dataset_id)
