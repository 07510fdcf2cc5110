"""The API's schemas of versions: one class for each kind of task."""

from typing import Annotated, TypeAlias

from pydantic import Field

from app.registry.records import Version
from app.tasks.schemas.versions.approximation import ApproximationVersionOut
from app.tasks.schemas.versions.components import ComponentsVersionOut
from app.tasks.schemas.versions.image import ImageVersionOut
from app.tasks.schemas.versions.supervised import SupervisedVersionOut
from relevance_bayes.documents.models import ApproximationReport, ComponentsReport, ImageReport, SupervisedReport

__all__ = ["VersionOut", "version_out"]

AnyVersionOut: TypeAlias = SupervisedVersionOut | ApproximationVersionOut | ImageVersionOut | ComponentsVersionOut
VersionOut: TypeAlias = Annotated[AnyVersionOut, Field(discriminator="task")]


def version_out(version: Version) -> AnyVersionOut:
    """Return the API's form of a version."""
    match version.report:
        case SupervisedReport() as report:
            return SupervisedVersionOut.of(version, report)
        case ApproximationReport() as report:
            return ApproximationVersionOut.of(version, report)
        case ImageReport() as report:
            return ImageVersionOut.of(version, report)
        case ComponentsReport() as report:
            return ComponentsVersionOut.of(version, report)
