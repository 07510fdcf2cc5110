"""Models, and what all versions have."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, Field

from app.registry.records import Model, Version
from relevance_bayes.documents.models import ImageReport, VersionReport
from relevance_bayes.types import models as records
from relevance_bayes.types.lineage import ImportedFrom


def model_record(model: Model) -> records.Model:
    """A model as it goes out."""
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
    )


class VersionBaseOut(BaseModel):
    """The members of all versions; of all members only `description` and `tags` change.

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
        "dataset": records.DatasetName(id=str(report.dataset_id), digest=report.dataset_digest),
        "seconds": report.seconds,
        "software_version": report.software_version,
    }


def imported_record(report: VersionReport) -> ImportedFrom | None:
    """The version that a report names; None for what was trained here."""
    return None if isinstance(report, ImageReport) else report.imported
