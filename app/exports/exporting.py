"""A version on its way out: all that it says, for a door to write down."""

from dataclasses import dataclass

from app.domain.ports import OpenUnitOfWork
from app.tasks.union import task_of
from relevance_bayes.documents.exported import ExportedVersion
from relevance_bayes.types.references import Reference


@dataclass(frozen=True)
class Exporting:
    """Versions for other programs."""

    open_uow: OpenUnitOfWork

    def version(self, owner: str, reference: Reference) -> ExportedVersion:
        """One version; raises NotFoundError, ConflictError for the code of an image."""
        with self.open_uow() as uow:
            version = uow.models.version(owner, *reference)
            predictor = uow.models.predictor(version.id)
        return task_of(version.report).exported(version, predictor)
