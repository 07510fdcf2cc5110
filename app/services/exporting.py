"""A version on its way out: all that it says, for a door to write down."""

from dataclasses import dataclass

from app.domain.errors import ConflictError
from app.domain.exports import ExportedApproximation, ExportedComponents, ExportedSupervised, ExportedVersion
from app.domain.models import (
    ApproximationPredictor,
    ApproximationReport,
    ComponentsPredictor,
    ComponentsReport,
    SupervisedPredictor,
    SupervisedReport,
)
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
        named = version.model, version.number, version.created_at
        match version.report, predictor:
            case SupervisedReport() as report, SupervisedPredictor():
                return ExportedSupervised(*named, report, predictor)
            case ApproximationReport() as report, ApproximationPredictor():
                return ExportedApproximation(*named, report, predictor)
            case ComponentsReport() as report, ComponentsPredictor():
                return ExportedComponents(*named, report, predictor)
            case report, _:
                raise ConflictError(
                    "Versions that predict numbers or classes, or tell a known function or components, can be "
                    f"exported; this one's task is {report.task}."
                )
