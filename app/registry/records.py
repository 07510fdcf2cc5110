"""Models and their immutable, numbered versions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, TypeAlias, TypeVar
from uuid import UUID

from app.registry.annotations import Annotation
from relevance_bayes.documents.models import VersionReport
from relevance_bayes.documents.models.approximation import ApproximationPredictor, ApproximationReport
from relevance_bayes.documents.models.components import ComponentsPredictor, ComponentsReport
from relevance_bayes.documents.models.image import ImagePredictor, ImageReport
from relevance_bayes.documents.models.supervised import SupervisedPredictor, SupervisedReport
from relevance_bayes.types.functions import RelevanceVector

R_co = TypeVar("R_co", covariant=True)
P_co = TypeVar("P_co", covariant=True)


@dataclass(frozen=True, eq=False)
class Learned(Generic[R_co, P_co]):
    """The result of a successful fit, which becomes a version and gets its number when it is recorded."""

    report: R_co
    vectors: tuple[RelevanceVector, ...]
    predictor: P_co


NewSupervisedVersion: TypeAlias = Learned[SupervisedReport, SupervisedPredictor]
NewApproximationVersion: TypeAlias = Learned[ApproximationReport, ApproximationPredictor]
NewImageVersion: TypeAlias = Learned[ImageReport, ImagePredictor]
NewComponentsVersion: TypeAlias = Learned[ComponentsReport, ComponentsPredictor]
NewVersion: TypeAlias = NewSupervisedVersion | NewApproximationVersion | NewImageVersion | NewComponentsVersion


@dataclass(frozen=True)
class Version:
    """A recorded version; only its annotation changes.

    `parent` is the number of the newest version of its model when it was recorded; None where there was none, and for
    versions recorded before the service stored it. `job_id` is None for an imported version.
    """

    id: UUID
    owner: str
    model: str
    number: int
    job_id: UUID | None
    created_at: datetime
    report: VersionReport
    parent: int | None = None
    annotation: Annotation = Annotation()


@dataclass(frozen=True)
class Model:
    """A model and its newest version; `target` is None for a task without one.

    `aliases` maps names to the numbers of versions.
    """

    name: str
    owner: str
    created_at: datetime
    task: str
    target: str | None
    inputs: tuple[str, ...]
    versions: int
    latest: int | None
    aliases: Mapping[str, int] = field(default_factory=dict)
    annotation: Annotation = Annotation()
