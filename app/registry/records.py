"""Names under which immutable, numbered versions are kept."""

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
    """The result of a successful fit, recorded in one transaction; the number is given then."""

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
    """A recorded version; nothing of it changes but its annotation.

    `parent` is the number of the newest version of its model when it was recorded; None where there was none, and in
    versions that are older than this. `job_id` is None for one that was imported.
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
    """A name, and the newest of the versions under it; a task without a target has none.

    `aliases` are the numbers of versions that have other names.
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
