"""A version on its way in: checked like anything that comes from outside, and recorded under a model's name."""

from dataclasses import dataclass

from app.domain.idempotency import Keyed
from app.domain.models import NewVersion, Version
from app.domain.ports import OpenUnitOfWork
from app.services.importing import approximation, components, supervised
from app.services.importing.refusing import refuse
from relevance_bayes.documents.exported import (
    ExportedApproximation,
    ExportedComponents,
    ExportedSupervised,
    ExportedVersion,
)
from relevance_bayes.plans.names import name_faults
from relevance_bayes.types.lineage import ImportedFrom


@dataclass(frozen=True)
class Importing:
    """Versions that were trained elsewhere."""

    open_uow: OpenUnitOfWork

    def add(
        self, owner: str, name: str, exported: ExportedVersion, *, digest: str, keyed: Keyed[Version] | None = None
    ) -> Version:
        """Record it as the next version of model `name`; `digest` is SHA-256 of what came.

        Raises InvalidRequestError for what can't predict, ConflictError where the model answers another question.
        """
        new = _checked(exported, name, ImportedFrom(exported.model, exported.number, digest))
        with self.open_uow() as uow:
            version = uow.models.add(owner, new)
            if keyed is not None:
                # Within the transaction, since only that gives the number.
                uow.keys.keep(keyed.key, keyed.answer(version))
        return version


def _checked(exported: ExportedVersion, name: str, imported: ImportedFrom) -> NewVersion:
    refuse(name_faults(name))
    match exported:
        case ExportedSupervised():
            return supervised.checked(exported, name, imported)
        case ExportedApproximation():
            return approximation.checked(exported, name, imported)
        case ExportedComponents():
            return components.checked(exported, name, imported)
