"""A version on its way out: all that it says, for a door to write down."""

from dataclasses import dataclass

from app.database.transaction import OpenTransaction
from app.registry.repository import ModelRepository
from app.tasks.union import task_of
from relevance_bayes.documents.exported import ExportedVersion
from relevance_bayes.types.references import Reference


@dataclass(frozen=True)
class Exporting:
    """Versions for other programs."""

    transaction: OpenTransaction

    def version(self, owner: str, reference: Reference) -> ExportedVersion:
        """One version; raises NotFoundError, ConflictError for the code of an image."""
        with self.transaction() as tx:
            version = ModelRepository(tx).version(owner, *reference)
            predictor = ModelRepository(tx).predictor(version.id)
        return task_of(version.report).exported(version, predictor)
