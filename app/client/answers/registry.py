"""Where versions come from."""

from dataclasses import dataclass
from datetime import datetime

from app.client.answers.datasets import Choice
from app.client.answers.models import ImportedFrom


@dataclass(frozen=True)
class DatasetOrigin:
    """The data that was learned from; its name is None once it is deleted."""

    id: str
    digest: str
    name: str | None
    is_kept: bool


@dataclass(frozen=True)
class Parent:
    """The newest version when another one was recorded."""

    version: int
    is_kept: bool


@dataclass(frozen=True)
class Lineage:
    """Where a version comes from: data, what was asked for, the version before it, and the program.

    What was imported has neither a job nor a request here.
    """

    model: str
    version: int
    created_at: datetime
    dataset: DatasetOrigin
    job_id: str | None
    request: Choice | None
    parent: Parent | None
    software_version: str
    imported: ImportedFrom | None = None
