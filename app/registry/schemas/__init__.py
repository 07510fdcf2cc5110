"""The API's schemas of models, versions (one class for each kind of task), and their functions."""

from typing import Annotated, TypeAlias

from pydantic import Field

from app.registry.records import Version
from app.registry.schemas.approximation import ApproximationVersionOut
from app.registry.schemas.components import ComponentsVersionOut
from app.registry.schemas.image import ImageVersionOut
from app.registry.schemas.supervised import SupervisedVersionOut
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
