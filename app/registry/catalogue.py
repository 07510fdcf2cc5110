"""The catalogue of models and versions of an owner: list, read, delete."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypeVar

from app.database.keyset import KeysetPage, PageRequest
from app.database.transaction import OpenTransaction
from app.datasets.repository import DatasetRepository
from app.jobs.repository import JobRepository
from app.registry.alias_repository import AliasRepository
from app.registry.records import NO_TAGS, Version
from app.registry.repository import ModelRepository
from app.registry.trainings import TRAINING
from app.registry.version_repository import VectorRepository
from relevance_bayes.records.diagnostics import Diagnostics
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.records.functions import RelevanceVector
from relevance_bayes.records.models import Model, Reference
from relevance_bayes.records.versions import DatasetOrigin, Lineage, Parent
from relevance_bayes.tasks.union import Predictor, VersionReport

Item = TypeVar("Item")

WeightUnit: TypeAlias = Callable[[VersionReport, Callable[[], Predictor]], float]
"""Returns the unit of a version's weights, from its report and, where needed, its predictor."""

PAGE = 100
"""The page size for reading a whole list."""


@dataclass(frozen=True)
class Catalogue:
    """Models and their versions; `weight_unit` returns the unit of the weights of a version's functions."""

    transaction: OpenTransaction
    weight_unit: WeightUnit

    def model(self, owner: str, name: str) -> Model:
        """Return a model; raises NotFoundError."""
        with self.transaction() as tx:
            return ModelRepository(tx).get(owner, name)

    def models(
        self, owner: str, part: PageRequest, *, task: str | None = None, tags: Mapping[str, str] = NO_TAGS
    ) -> KeysetPage[Model]:
        """Return a page of models that have all of these tags, of a task where one is given."""
        with self.transaction() as tx:
            return ModelRepository(tx).page(owner, part, task=task, tags=tags)

    def version(self, owner: str, reference: Reference) -> Version:
        """Return a version; raises NotFoundError."""
        with self.transaction() as tx:
            return ModelRepository(tx).version(owner, *reference)

    def lineage(self, owner: str, reference: Reference) -> Lineage:
        """Return the lineage of a version; raises NotFoundError."""
        with self.transaction() as tx:
            version = ModelRepository(tx).version(owner, *reference)
            job = None if version.job_id is None else JobRepository(tx).get(owner, version.job_id)
            name, parent, report = None, None, version.report
            with suppress(NotFoundError):
                name = DatasetRepository(tx).get(owner, report.dataset_id).name
            if version.parent is not None:
                parent = Parent(version.parent, exists=False)
                with suppress(NotFoundError):
                    ModelRepository(tx).version(owner, version.model, version.parent)
                    parent = replace(parent, exists=True)
        return Lineage(
            model=version.model,
            version=version.number,
            created_at=version.created_at,
            dataset=DatasetOrigin(str(report.dataset_id), report.dataset_digest, name, exists=name is not None),
            job_id=None if version.job_id is None else str(version.job_id),
            request=None if job is None else TRAINING.request.adapter.dump_python(TRAINING.read(job)[0], mode="json"),
            imported=report.imported,
            parent=parent,
            software_version=report.software_version,
        )

    def versions(
        self, owner: str, name: str, part: PageRequest, *, tags: Mapping[str, str] = NO_TAGS
    ) -> KeysetPage[Version]:
        """Return a page of a model's versions that have all of these tags; raises NotFoundError."""
        with self.transaction() as tx:
            return ModelRepository(tx).versions(owner, name, part, tags=tags)

    def every_version(self, owner: str, name: str) -> Sequence[Version]:
        """Return all of a model's versions, newest first; raises NotFoundError."""
        with self.transaction() as tx:
            return [*_all(lambda after: ModelRepository(tx).versions(owner, name, PageRequest(PAGE, after)))]

    def names(self, owner: str, model: str) -> tuple[Reference, ...]:
        """Return all references to a model's versions: numbers, newest first, and aliases; raises NotFoundError."""
        with self.transaction() as tx:
            numbers = [
                version.number
                for version in _all(lambda after: ModelRepository(tx).versions(owner, model, PageRequest(PAGE, after)))
            ]
            aliases = [
                alias.alias
                for alias in _all(lambda after: AliasRepository(tx).page(owner, model, limit=PAGE, after=after))
            ]
        return (*(Reference(model, number) for number in numbers), *(Reference(model, alias) for alias in aliases))

    def everything(self, owner: str) -> Iterator[Reference]:
        """Return all references to the versions of all models."""
        for model in _all(lambda after: self.models(owner, PageRequest(PAGE, after))):
            with suppress(NotFoundError):  # deleted meanwhile
                yield from self.names(owner, model.name)

    def diagnostics(self, owner: str, reference: Reference) -> Diagnostics:
        """Return the diagnostics of a version; raises NotFoundError where it has none."""
        with self.transaction() as tx:
            version = ModelRepository(tx).version(owner, *reference)
            found = ModelRepository(tx).diagnostics(version.id)
        if found is None:
            raise NotFoundError(f"Version {version.number} of model {version.model!r} has no diagnostics.")
        return found

    def vectors(
        self, owner: str, reference: Reference, *, limit: int, after: str | None, sort: Literal["number", "weight"]
    ) -> KeysetPage[RelevanceVector]:
        """Return a page of a version's functions, by number or by abs(weight), greatest first; raises NotFoundError.

        Weights are in the units of the function that is learned: the target's, where that is a number.
        """
        with self.transaction() as tx:
            version = ModelRepository(tx).version(owner, *reference)
            page = VectorRepository(tx).page(version.id, limit=limit, after=after, sort=sort)
            unit = self.weight_unit(version.report, lambda: ModelRepository(tx).predictor(version.id))
        return replace(page, items=tuple(vector.in_units(unit) for vector in page.items))

    def delete_model(self, owner: str, name: str) -> None:
        """Delete a model with all its versions; raises NotFoundError, InUseError while an unfinished job needs it."""
        with self.transaction() as tx:
            ModelRepository(tx).delete(owner, name)

    def remove_deleted(self) -> None:
        """Delete the versions of deleted models, in short transactions."""
        found = True
        while found:
            with self.transaction() as tx:
                found = ModelRepository(tx).remove_deleted()

    def delete_version(self, owner: str, reference: Reference) -> None:
        """Delete a version; its number is never used again. Raises NotFoundError, InUseError while an alias has it."""
        with self.transaction() as tx:
            ModelRepository(tx).delete_version(owner, *reference)


def _all(page: Callable[[str | None], KeysetPage[Item]]) -> Iterator[Item]:
    """Return the items of all pages of a list."""
    after = None
    while True:
        found = page(after)
        yield from found.items
        if found.next is None:
            return
        after = found.next
