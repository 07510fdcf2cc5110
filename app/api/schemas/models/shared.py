"""Models, and what all versions have."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Self
from uuid import UUID

from pydantic import BaseModel, Field

from app.domain.models import Model, Version


class ModelOut(BaseModel):
    """A name, and what its versions have in common."""

    name: str
    created_at: datetime
    task: str
    target: str | None = Field(description="What is predicted; null for tasks without a target.")
    inputs: Sequence[str]
    versions: int = Field(description="How many there are.")
    latest: int | None = Field(description="The number of the newest.")
    aliases: Mapping[str, int] = Field(description="The numbers of the versions to which aliases point.")
    description: str | None
    tags: Mapping[str, str]

    @classmethod
    def of(cls, model: Model) -> Self:
        """A model as it goes out."""
        return cls(
            name=model.name,
            created_at=model.created_at,
            task=model.task,
            target=model.target,
            inputs=model.inputs,
            versions=model.versions,
            latest=model.latest,
            aliases=model.aliases,
            description=model.annotation.description,
            tags=model.annotation.tags,
        )


class DatasetNameOut(BaseModel):
    """The data that was learned from; the digest is of their content."""

    id: UUID
    digest: str


class VersionBaseOut(BaseModel):
    """What every version begins with; of all members only `description` and `tags` change.

    What else each has stands where it belongs: columns, counts, where it is from.
    """

    model: str
    version: int
    created_at: datetime
    job_id: UUID | None = Field(description="The training that made it; null where it was imported.")
    parent: int | None = Field(
        description="The newest version when this one was recorded; null for the first, and where it is not known."
    )
    description: str | None
    tags: Mapping[str, str]


def shared_by_versions(version: Version) -> dict[str, object]:
    """The members of `VersionBaseOut`, and what else each version has."""
    report = version.report
    return {
        "model": version.model,
        "version": version.number,
        "created_at": version.created_at,
        "job_id": version.job_id,
        "parent": version.parent,
        "description": version.annotation.description,
        "tags": version.annotation.tags,
        "inputs": report.plan.inputs,
        "ignored": report.plan.ignored,
        "functions": report.functions,
        "rows": report.rows,
        "dataset": DatasetNameOut(id=report.dataset_id, digest=report.dataset_digest),
        "seconds": report.seconds,
        "software_version": report.software_version,
    }
