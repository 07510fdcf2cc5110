"""Datasets of an owner: list, read by rows, delete."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from uuid import UUID

import numpy as np

from app.database.keyset import KeysetPage, PageRequest
from app.database.transaction import OpenTransaction
from app.datasets.records import Dataset
from app.datasets.repository import DatasetRepository
from relevance_bayes.core.types import Array
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.records.values import Cell
from relevance_bayes.tables.columns import IMAGE_COLUMNS, NumberArray, block_rows
from relevance_bayes.tables.encoding import raw_cells

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

    def page(self, owner: str, part: PageRequest, *, name: str | None = None) -> KeysetPage[Dataset]:
        """Return a page of datasets, of those with a name where one is given."""
        with self.transaction() as tx:
            return DatasetRepository(tx).page(owner, part, name=name)

    def rows(self, owner: str, dataset_id: UUID, *, limit: int, first: int = 0) -> tuple[Row, ...]:
        """Return at most `limit` rows from row `first` on, none after the end; raises NotFoundError.

        Fewer rows of a wide table, so that they have at most `MAX_CELLS_OF_ROWS` cells, but always one.
        """
        dataset = self.get(owner, dataset_id)
        last = min(first + _fitting(limit, dataset), dataset.rows)
        return tuple(self._read(dataset, range(first, last)))

    def sample(self, owner: str, dataset_id: UUID, *, size: int) -> tuple[Row, ...]:
        """Return at most `size` rows, evenly spaced over the table: all of a shorter one; raises NotFoundError.

        Fewer rows of a wide table, as of `rows`.
        """
        dataset = self.get(owner, dataset_id)
        spaced = min(_fitting(size, dataset), dataset.rows)
        return tuple(self._read(dataset, [(2 * place + 1) * dataset.rows // (2 * spaced) for place in range(spaced)]))

    def pixels(self, owner: str, dataset_id: UUID) -> Array:
        """Return the intensities of an image (height, width); raises NotFoundError, for a table too."""
        dataset = self.get(owner, dataset_id)
        size = dataset.image
        if size is None:
            raise NotFoundError(f"Dataset {dataset.id} is a table: it has no image.")
        blocks = list(self._intensities(dataset))
        if sum(map(len, blocks)) != dataset.rows:  # deleted meanwhile
            raise NotFoundError(f"There is no dataset {dataset.id}.")
        return np.concatenate(blocks).reshape(size.height, size.width)

    def _intensities(self, dataset: Dataset) -> Iterator[Array]:
        """Yield the intensities of the blocks, each read in a transaction of its own."""
        for number in count():
            with self.transaction() as tx:
                stored = DatasetRepository(tx).block(dataset.id, number)
            if stored is None:
                return
            column = stored[1][IMAGE_COLUMNS[2]]
            if not isinstance(column, NumberArray):
                raise TypeError(f"expected an image's intensities, got {type(column).__name__}")
            yield column.values

    def _read(self, dataset: Dataset, numbers: Sequence[int]) -> Iterator[Row]:
        """Return the rows with ascending numbers, each block read in a transaction of its own."""
        names = tuple(column.name for column in dataset.columns)
        whole = frozenset(column.name for column in dataset.columns if column.integral)
        first_row, end, block = 0, 0, None
        for number in numbers:
            if block is None or number >= end:
                with self.transaction() as tx:
                    datasets = DatasetRepository(tx)
                    stored = datasets.block(dataset.id, datasets.block_holding(dataset.id, number))
                if stored is None:  # deleted meanwhile
                    return
                first_row, block = stored
                end = first_row + block_rows(block)
            yield Row(number, raw_cells(block, number - first_row, names, integral=whole))

    def delete(self, owner: str, dataset_id: UUID) -> None:
        """Delete a dataset; raises NotFoundError, InUseError while an unfinished job needs it."""
        with self.transaction() as tx:
            DatasetRepository(tx).delete(owner, dataset_id)


def _fitting(rows: int, dataset: Dataset) -> int:
    """Return the number of rows, at most as many as fit into one response."""
    return min(rows, max(MAX_CELLS_OF_ROWS // len(dataset.columns), 1))
