"""Aliases of versions and annotations of models: use cases of their owner."""

from collections.abc import Callable
from dataclasses import dataclass

from app.database.keyset import KeysetPage, PageRequest
from app.database.transaction import OpenTransaction
from app.http.conditional_requests import UNCONDITIONAL, Condition
from app.registry.alias_repository import AliasRepository
from app.registry.annotations import AnnotationIn, ModelChangeIn
from app.registry.records import MovedAlias, StoredAlias, Version
from app.registry.repository import ModelRepository
from relevance_bayes.records.models import AliasMove, Model, Reference, Selector


@dataclass(frozen=True)
class AliasService:
    """Aliases of a model's versions; each move is one transaction, and is recorded with its author and reason."""

    transaction: OpenTransaction

    def get(self, owner: str, model: str, name: str) -> StoredAlias:
        """Return an alias with its version; raises NotFoundError."""
        with self.transaction() as tx:
            return AliasRepository(tx).get(owner, model, name)

    def page(self, owner: str, model: str, *, limit: int, after: str | None) -> KeysetPage[StoredAlias]:
        """Return a page of a model's aliases by name; raises NotFoundError."""
        with self.transaction() as tx:
            return AliasRepository(tx).page(owner, model, limit=limit, after=after)

    def history(self, owner: str, model: str, name: str, part: PageRequest) -> KeysetPage[AliasMove]:
        """Return a page of an alias's moves, also after its removal; raises NotFoundError."""
        with self.transaction() as tx:
            return AliasRepository(tx).history(owner, model, name, part)

    def move(
        self,
        owner: str,
        model: str,
        name: str,
        *,
        to: Selector,
        by: str | None = None,
        reason: str | None = None,
        condition: Condition = UNCONDITIONAL,
    ) -> MovedAlias:
        """Point an alias, which is created where it does not exist, to a version; the same move again changes nothing.

        The history has the author, by default the owner. Raises NotFoundError, PreconditionFailedError, ConflictError
        where the model has too many.
        """
        with self.transaction() as tx:
            return AliasRepository(tx).move(
                owner, model, name, to=to, by=by or owner, reason=reason, condition=condition
            )

    def remove(
        self,
        owner: str,
        model: str,
        name: str,
        *,
        by: str | None = None,
        reason: str | None = None,
        condition: Condition = UNCONDITIONAL,
    ) -> None:
        """Remove an alias; its history stays, with the author, by default the owner.

        Raises NotFoundError, PreconditionFailedError.
        """
        with self.transaction() as tx:
            AliasRepository(tx).remove(owner, model, name, by=by or owner, reason=reason, condition=condition)


@dataclass(frozen=True)
class Annotations:
    """Descriptions and tags, changed by merge patches; `tag` returns the ETag of a model or a version."""

    transaction: OpenTransaction

    def of_model(
        self,
        owner: str,
        name: str,
        patch: ModelChangeIn,
        *,
        tag: Callable[[Model], str],
        condition: Condition = UNCONDITIONAL,
    ) -> Model:
        """Patch the annotation of a model, and the share of predictions that is recorded.

        Raises NotFoundError, PreconditionFailedError, InvalidRequestError.
        """
        with self.transaction() as tx:
            ModelRepository(tx).lock(owner, name)
            model = ModelRepository(tx).get(owner, name)
            condition.require(f"Model {name!r}", tag(model))
            return ModelRepository(tx).annotate(owner, name, patch.applied(model), record=patch.record_share)

    def of_version(
        self,
        owner: str,
        reference: Reference,
        patch: AnnotationIn,
        *,
        tag: Callable[[Version], str],
        condition: Condition = UNCONDITIONAL,
    ) -> Version:
        """Patch the annotation of a version; raises NotFoundError, PreconditionFailedError, InvalidRequestError."""
        with self.transaction() as tx:
            ModelRepository(tx).lock(owner, reference.model)
            version = ModelRepository(tx).version(owner, *reference)
            condition.require(f"Version {version.number} of model {version.model!r}", tag(version))
            return ModelRepository(tx).annotate_version(version, patch.applied(version.annotation))
