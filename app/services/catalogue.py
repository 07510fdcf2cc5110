"""The catalogue: what an owner has, datasets and models, to look at and to delete."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal, TypeVar
from uuid import UUID

from app.domain.datasets import Dataset
from app.domain.jobs import training_of
from app.domain.lineage import Lineage
from app.domain.model_ports import NO_TAGS
from app.domain.models import Model, Version
from app.domain.ports import OpenUnitOfWork, Page, PageRequest
from app.tasks.union import task_of
from relevance_bayes.tables.columns import Block, block_rows
from relevance_bayes.tables.encoding import raw_cells
from relevance_bayes.types.errors import NotFoundError
from relevance_bayes.types.functions import RelevanceVector
from relevance_bayes.types.references import Reference
from relevance_bayes.types.values import Cell

Item = TypeVar("Item")

MAX_CELLS_OF_ROWS = 100_000
"""Cells that one look at a dataset's rows shows at most."""


PAGE = 100
"""Of a list that is gone through whole."""


@dataclass(frozen=True)
class Row:
    """Row `number` (from 0) of a dataset, its cells by column name in the table's order."""

    number: int
    cells: dict[str, Cell]


@dataclass(frozen=True)
class Catalogue:
    """Everything that can be listed."""

    open_uow: OpenUnitOfWork

    def dataset(self, owner: str, dataset_id: UUID) -> Dataset:
        """One dataset; raises NotFoundError."""
        with self.open_uow() as uow:
            return uow.datasets.get(owner, dataset_id)

    def datasets(self, owner: str, part: PageRequest, *, name: str | None = None) -> Page[Dataset]:
        """Datasets, those of a name where one is said."""
        with self.open_uow() as uow:
            return uow.datasets.page(owner, part, name=name)

    def rows(self, owner: str, dataset_id: UUID, *, limit: int, first: int = 0) -> tuple[Row, ...]:
        """At most `limit` rows from row `first` on, in the table's order, none past the end; raises NotFoundError.

        Of a wide table they are fewer, so that they hold no more than `MAX_CELLS_OF_ROWS`, but always one.
        """
        dataset = self.dataset(owner, dataset_id)
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
        """The blocks that hold rows first..last-1, each from a transaction of its own."""
        if first >= last:
            return
        with self.open_uow() as uow:
            number = uow.datasets.block_holding(dataset_id, first)
        while first < last:
            with self.open_uow() as uow:
                stored = uow.datasets.block(dataset_id, number)
            if stored is None:  # deleted while it was read
                return
            yield stored
            first = stored[0] + block_rows(stored[1])
            number += 1

    def delete_dataset(self, owner: str, dataset_id: UUID) -> None:
        """Raises NotFoundError, InUseError while an unfinished job needs it."""
        with self.open_uow() as uow:
            uow.datasets.delete(owner, dataset_id)

    def model(self, owner: str, name: str) -> Model:
        """One model; raises NotFoundError."""
        with self.open_uow() as uow:
            return uow.models.get(owner, name)

    def models(
        self, owner: str, part: PageRequest, *, task: str | None = None, tags: Mapping[str, str] = NO_TAGS
    ) -> Page[Model]:
        """Models that have all of these tags, those of a task where one is said."""
        with self.open_uow() as uow:
            return uow.models.page(owner, part, task=task, tags=tags)

    def version(self, owner: str, reference: Reference) -> Version:
        """One version; raises NotFoundError."""
        with self.open_uow() as uow:
            return uow.models.version(owner, *reference)

    def lineage(self, owner: str, reference: Reference) -> Lineage:
        """Where a version comes from; raises NotFoundError."""
        with self.open_uow() as uow:
            version = uow.models.version(owner, *reference)
            job = None if version.job_id is None else uow.jobs.get(owner, version.job_id)
            dataset, is_parent_kept = None, False
            with suppress(NotFoundError):
                dataset = uow.datasets.get(owner, version.report.dataset_id)
            with suppress(NotFoundError):
                is_parent_kept = version.parent is not None and bool(
                    uow.models.version(owner, version.model, version.parent)
                )
        return Lineage(version, None if job is None else training_of(job)[0], dataset, is_parent_kept)

    def versions(self, owner: str, name: str, part: PageRequest, *, tags: Mapping[str, str] = NO_TAGS) -> Page[Version]:
        """A model's versions that have all of these tags; raises NotFoundError."""
        with self.open_uow() as uow:
            return uow.models.versions(owner, name, part, tags=tags)

    def every_version(self, owner: str, name: str) -> Sequence[Version]:
        """All of a model's versions, newest first; raises NotFoundError."""
        with self.open_uow() as uow:
            return [*_all(lambda after: uow.models.versions(owner, name, PageRequest(PAGE, after)))]

    def names(self, owner: str, model: str) -> tuple[Reference, ...]:
        """All that a model's versions are asked for by: numbers, newest first, and aliases; raises NotFoundError."""
        with self.open_uow() as uow:
            numbers = [
                version.number
                for version in _all(lambda after: uow.models.versions(owner, model, PageRequest(PAGE, after)))
            ]
            aliases = [
                alias.name for alias in _all(lambda after: uow.aliases.page(owner, model, limit=PAGE, after=after))
            ]
        return (*(Reference(model, number) for number in numbers), *(Reference(model, alias) for alias in aliases))

    def everything(self, owner: str) -> Iterator[Reference]:
        """The same of all models."""
        for model in _all(lambda after: self.models(owner, PageRequest(PAGE, after))):
            with suppress(NotFoundError):  # deleted in between
                yield from self.names(owner, model.name)

    def vectors(
        self, owner: str, reference: Reference, *, limit: int, after: str | None, sort: Literal["number", "weight"]
    ) -> Page[RelevanceVector]:
        """A version's functions, by number or by abs(weight), greatest first; raises NotFoundError.

        Weights are in the units of the function that is learned: the target's, where that is a number.
        """
        with self.open_uow() as uow:
            version = uow.models.version(owner, *reference)
            page = uow.models.vectors(owner, version.model, version.number, limit=limit, after=after, sort=sort)
            unit = task_of(version.report).weight_unit(version.report, lambda: uow.models.predictor(version.id))
        return replace(page, items=tuple(vector.in_units(unit) for vector in page.items))

    def delete_model(self, owner: str, name: str) -> None:
        """A model with all its versions; raises NotFoundError, InUseError while an unfinished job is to add to it."""
        with self.open_uow() as uow:
            uow.models.delete(owner, name)

    def delete_version(self, owner: str, reference: Reference) -> None:
        """One version; its number is never used again. Raises NotFoundError, InUseError while an alias points to it."""
        with self.open_uow() as uow:
            uow.models.delete_version(owner, *reference)


def _all(page: Callable[[str | None], Page[Item]]) -> Iterator[Item]:
    """Return what is on all pages of a list."""
    after = None
    while True:
        found = page(after)
        yield from found.items
        if found.next is None:
            return
        after = found.next
