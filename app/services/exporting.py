"""A version on its way out: all that it says, for a door to write down."""

from dataclasses import dataclass

from app.domain.errors import ConflictError
from app.domain.ports import OpenUnitOfWork
from relevance_bayes.documents.exported import (
    ExportedApproximation,
    ExportedComponents,
    ExportedSupervised,
    ExportedVersion,
)
from relevance_bayes.documents.models import (
    ApproximationPredictor,
    ApproximationReport,
    ComponentsPredictor,
    ComponentsReport,
    ImagePredictor,
    ImageReport,
    SupervisedPredictor,
    SupervisedReport,
)
from relevance_bayes.types.references import Reference

NO_FILE_OF_AN_IMAGE = (
    "The code of an image is not exported: beside its version `image` has the pixels, as PNG or exactly as npy, and "
    "`relevance-vectors` the functions."
)


@dataclass(frozen=True)
class Exporting:
    """Versions for other programs."""

    open_uow: OpenUnitOfWork

    def version(self, owner: str, reference: Reference) -> ExportedVersion:
        """One version; raises NotFoundError, ConflictError for the code of an image."""
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
            case ImageReport(), ImagePredictor():
                raise ConflictError(NO_FILE_OF_AN_IMAGE)
            case report, _:
                raise TypeError(f"expected a predictor for {report.task}, got {type(predictor).__name__}")
