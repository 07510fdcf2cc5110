"""Models, their versions, one class for each kind of task, and the functions that a version keeps."""

from typing import Annotated, TypeAlias

from pydantic import Field

from app.api.schemas.models.approximation import ApproximationVersionOut
from app.api.schemas.models.components import ComponentsVersionOut
from app.api.schemas.models.image import ImageVersionOut
from app.api.schemas.models.supervised import SupervisedVersionOut
from app.domain.models import Version
from relevance_bayes.documents.models import ApproximationReport, ComponentsReport, ImageReport, SupervisedReport

__all__ = ["VersionOut", "version_out"]

AnyVersionOut: TypeAlias = SupervisedVersionOut | ApproximationVersionOut | ImageVersionOut | ComponentsVersionOut
VersionOut: TypeAlias = Annotated[AnyVersionOut, Field(discriminator="task")]


def version_out(version: Version) -> AnyVersionOut:
    """A version as it goes out."""
    match version.report:
        case SupervisedReport() as report:
            return SupervisedVersionOut.of(version, report)
        case ApproximationReport() as report:
            return ApproximationVersionOut.of(version, report)
        case ImageReport() as report:
            return ImageVersionOut.of(version, report)
        case ComponentsReport() as report:
            return ComponentsVersionOut.of(version, report)
