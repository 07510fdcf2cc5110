"""A version on its way out: all that it says, for a door to write down."""

from dataclasses import dataclass

from app.domain.errors import ConflictError
from app.domain.exports import ExportedVersion
from app.domain.models import SupervisedPredictor, SupervisedReport
from app.domain.ports import OpenUnitOfWork
from app.domain.references import Reference


@dataclass(frozen=True)
class Exporting:
    """Versions for other programs."""

    open_uow: OpenUnitOfWork

    def version(self, owner: str, reference: Reference) -> ExportedVersion:
        """One version; raises NotFoundError, ConflictError for a task whose versions stay here."""
        with self.open_uow() as uow:
            version = uow.models.version(owner, *reference)
            predictor = uow.models.predictor(version.id)
        if not isinstance(version.report, SupervisedReport) or not isinstance(predictor, SupervisedPredictor):
            raise ConflictError(
                f"Versions that predict numbers or classes can be exported; this one's task is {version.report.task}."
            )
        return ExportedVersion(version.model, version.number, version.created_at, version.report, predictor)
