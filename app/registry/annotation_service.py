"""Annotations of models and versions."""

from collections.abc import Callable
from dataclasses import dataclass

from app.database.transaction import OpenTransaction
from app.http.conditions import UNCONDITIONAL, Condition
from app.registry.annotations import AnnotationPatch
from app.registry.records import Model, Version
from app.registry.repository import ModelRepository
from relevance_bayes.types.references import Reference


@dataclass(frozen=True)
class Annotations:
    """Descriptions and tags, changed by merge patches; `tag` tells one state of a thing from every other."""

    transaction: OpenTransaction

    def of_model(
        self,
        owner: str,
        name: str,
        patch: AnnotationPatch,
        *,
        tag: Callable[[Model], str],
        condition: Condition = UNCONDITIONAL,
    ) -> Model:
        """Change what is said of a model; raises NotFoundError, PreconditionFailedError, InvalidRequestError."""
        with self.transaction() as tx:
            ModelRepository(tx).lock(owner, name)
            model = ModelRepository(tx).get(owner, name)
            condition.require(f"Model {name!r}", tag(model))
            return ModelRepository(tx).annotate(owner, name, patch.applied(model.annotation))

    def of_version(
        self,
        owner: str,
        reference: Reference,
        patch: AnnotationPatch,
        *,
        tag: Callable[[Version], str],
        condition: Condition = UNCONDITIONAL,
    ) -> Version:
        """Change what is said of a version; raises NotFoundError, PreconditionFailedError, InvalidRequestError."""
        with self.transaction() as tx:
            ModelRepository(tx).lock(owner, reference.model)
            version = ModelRepository(tx).version(owner, *reference)
            condition.require(f"Version {version.number} of model {version.model!r}", tag(version))
            return ModelRepository(tx).annotate_version(version, patch.applied(version.annotation))
