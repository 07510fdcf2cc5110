"""Ports of models and their aliases: part of a unit of work."""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol
from uuid import UUID

from app.domain.aliases import Alias, MovedAlias
from app.domain.annotations import Annotation
from app.domain.conditions import Condition
from app.domain.models import Model, NewVersion, Version
from app.domain.pages import Page, PageRequest
from relevance_bayes.documents.models import Predictor
from relevance_bayes.types.aliases import AliasMove
from relevance_bayes.types.functions import ListedFunction, RelevanceVector
from relevance_bayes.types.references import NamedVersion, Selector

NO_TAGS: Mapping[str, str] = {}


class Models(Protocol):
    """Where versions are kept. Numbers are given at success and never used again, also after a delete."""

    def get(self, owner: str, name: str) -> Model:
        """Raises NotFoundError."""

    def find(self, owner: str, name: str) -> Model | None: ...

    def page(
        self, owner: str, part: PageRequest, *, task: str | None = None, tags: Mapping[str, str] = NO_TAGS
    ) -> Page[Model]:
        """Those that are of this task and have all of these tags."""

    def version(self, owner: str, name: str, selector: Selector = None) -> Version:
        """One version: the newest, or the one with this number or alias; raises NotFoundError."""

    def version_ids(self, names: Sequence[NamedVersion]) -> Mapping[NamedVersion, UUID]:
        """Which versions some names stand for now, without those that stand for none."""

    def versions(self, owner: str, name: str, part: PageRequest, *, tags: Mapping[str, str] = NO_TAGS) -> Page[Version]:
        """Those that have all of these tags; raises NotFoundError."""

    def hold(self, owner: str, name: str) -> None:
        """Keep all others from changing a model and its versions until this unit ends; raises NotFoundError."""

    def annotate(self, owner: str, name: str, annotation: Annotation) -> Model:
        """Have this said of a model; raises NotFoundError."""

    def annotate_version(self, version: Version, annotation: Annotation) -> Version:
        """Have this said of a version."""

    def vectors(
        self,
        owner: str,
        name: str,
        selector: Selector,
        *,
        limit: int,
        after: str | None,
        sort: Literal["number", "weight"],
    ) -> Page[RelevanceVector]:
        """By number, or by the size of a vector's greatest weight, greatest first."""

    def functions(self, version_id: UUID) -> tuple[ListedFunction, ...]:
        """Those of the list of relevance vectors, by number, as they are named alone."""

    def predictor(self, version_id: UUID) -> Predictor:
        """Decoded from its bytes; raises NotFoundError."""

    def add(self, owner: str, version: NewVersion) -> Version:
        """Record a version that no job made; raises ConflictError where its model's name means something else."""

    def delete(self, owner: str, name: str) -> None:
        """Raises NotFoundError, or InUseError while an unfinished job is to make or to score a version of it."""

    def delete_version(self, owner: str, name: str, selector: Selector) -> None:
        """Raises NotFoundError, or InUseError while an alias points to it or an unfinished job scores it."""


class Aliases(Protocol):
    """Names that move from version to version of a model; everything that was done with one stays known."""

    def get(self, owner: str, model: str, name: str) -> Alias:
        """Raises NotFoundError."""

    def page(self, owner: str, model: str, *, limit: int, after: str | None) -> Page[Alias]:
        """By name; raises NotFoundError."""

    def history(self, owner: str, model: str, name: str, part: PageRequest) -> Page[AliasMove]:
        """Newest first, also of one that was removed; raises NotFoundError when there never was one."""

    def move(
        self, owner: str, model: str, name: str, *, to: Selector, by: str, reason: str | None, condition: Condition
    ) -> MovedAlias:
        """Point an alias, a new one where there is none, to a version; the same once more changes nothing.

        Raises NotFoundError (model, version), PreconditionFailedError, ConflictError where a model has MAX_ALIASES.
        """

    def remove(self, owner: str, model: str, name: str, *, by: str, reason: str | None, condition: Condition) -> None:
        """Raises NotFoundError, PreconditionFailedError."""
