"""Models, and what all versions have."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Self
from uuid import UUID

from pydantic import BaseModel, Field

from app.api.schemas.jobs import FromDomain, IgnoredOut, InputOut
from app.domain.models import Model, Version


class ModelOut(FromDomain):
    """A name, and what its versions have in common."""

    name: str
    created_at: datetime
    task: str
    target: str | None = Field(description="What is predicted; null for tasks without a target.")
    inputs: Sequence[str]
    versions: int = Field(description="How many there are.")
    latest: int | None = Field(description="The number of the newest.")
    aliases: Mapping[str, int] = Field(description="The numbers of the versions to which aliases point.")

    @classmethod
    def of(cls, model: Model) -> Self:
        """A model as it goes out."""
        return cls.model_validate(model)


class DatasetNameOut(BaseModel):
    """The data that was learned from; the digest is of their content."""

    id: UUID
    digest: str


class VersionBaseOut(BaseModel):
    """What every version begins with. What else each has stands where it belongs: columns, counts, where it is from."""

    model: str
    version: int
    created_at: datetime
    job_id: UUID


def shared_by_versions(version: Version) -> dict[str, object]:
    """The members of `VersionBaseOut`, and what else each version has."""
    report = version.report
    return {
        "model": version.model,
        "version": version.number,
        "created_at": version.created_at,
        "job_id": version.job_id,
        "inputs": [InputOut.model_validate(column) for column in report.plan.inputs],
        "ignored": [IgnoredOut.model_validate(column) for column in report.plan.ignored],
        "functions": report.functions,
        "rows": report.rows,
        "dataset": DatasetNameOut(id=report.dataset_id, digest=report.dataset_digest),
        "seconds": report.seconds,
        "software_version": report.software_version,
    }
