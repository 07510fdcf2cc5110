"""The API's schemas of models, and the members of all versions."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, Field

from app.registry.records import Model, Version
from relevance_bayes.types import models as records


def model_record(model: Model) -> records.Model:
    """Return the API's form of a model."""
    return records.Model(
        name=model.name,
        created_at=model.created_at,
        task=model.task,
        target=model.target,
        inputs=model.inputs,
        versions=model.versions,
        latest=model.latest,
        aliases=dict(model.aliases),
        description=model.annotation.description,
        tags=dict(model.annotation.tags),
        record=model.record,
    )


class VersionBaseOut(BaseModel):
    """The members of all versions; only `description` and `tags` change.

    Further members depend on the task: columns, counts, the origin of an import.
    """

    model: str
    version: int
    created_at: datetime
    job_id: UUID | None = Field(description="The training that made the version; null for an imported version.")
    parent: int | None = Field(
        description="The newest version when this one was recorded; null for the first, and where unknown."
    )
    description: str | None
    tags: Mapping[str, str]


def shared_by_versions(version: Version) -> dict[str, object]:
    """Return the members of `VersionBaseOut`, and the task-specific members that all versions have."""
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
        "dataset": records.DatasetName(id=str(report.dataset_id), digest=report.dataset_digest),
        "seconds": report.seconds,
        "software_version": report.software_version,
    }
