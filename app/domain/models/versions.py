"""Names under which immutable, numbered versions are kept."""

from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias
from uuid import UUID

from app.domain.models.supervised import SupervisedPredictor, SupervisedReport
from app.domain.models.vectors import RelevanceVector

VersionReport: TypeAlias = SupervisedReport
Predictor: TypeAlias = SupervisedPredictor


@dataclass(frozen=True, eq=False)
class NewVersion:
    """What a successful fit brings to be recorded in one transaction; the number is given then."""

    report: VersionReport
    vectors: tuple[RelevanceVector, ...]
    predictor: Predictor


@dataclass(frozen=True)
class Version:
    """A recorded version; it never changes."""

    id: UUID
    owner: str
    model: str
    number: int
    job_id: UUID
    created_at: datetime
    report: VersionReport


@dataclass(frozen=True)
class Model:
    """A name, and the newest of the versions under it."""

    name: str
    owner: str
    created_at: datetime
    task: str
    target: str
    inputs: tuple[str, ...]
    versions: int
    latest: int | None
