"""Where a version comes from, as it goes out."""

from collections.abc import Mapping
from datetime import datetime
from typing import Self
from uuid import UUID

from pydantic import BaseModel, Field, JsonValue, TypeAdapter

from app.api.schemas.models.imported import ImportedFromOut
from app.domain.lineage import Lineage
from relevance_bayes.plans.requests import TrainingRequest

_REQUEST: TypeAdapter[TrainingRequest] = TypeAdapter(TrainingRequest)


class DatasetOriginOut(BaseModel):
    """The data that was learned from."""

    id: UUID
    digest: str = Field(
        description="SHA-256 of its content: names, kinds and values. Two datasets of one digest are the same."
    )
    name: str | None = Field(description="Null once it is deleted.")
    exists: bool = Field(description="Whether it is there still.")


class ParentOut(BaseModel):
    """The newest version when this one was recorded."""

    version: int
    exists: bool = Field(description="Whether it is there still.")


class LineageOut(BaseModel):
    """Where a version comes from: enough to make it again."""

    model: str
    version: int
    created_at: datetime
    dataset: DatasetOriginOut
    job_id: UUID | None = Field(description="The training that made it; null where it was imported.")
    request: Mapping[str, JsonValue] | None = Field(
        description="What was asked for; null is what was left to the service. The version says what that was. Null "
        "as a whole where the version was imported."
    )
    imported: ImportedFromOut | None = Field(
        description="The version that it was imported from; null where it was trained here."
    )
    parent: ParentOut | None = Field(description="Null for the first version, and where it is not known.")
    software_version: str

    @classmethod
    def of(cls, lineage: Lineage) -> Self:
        """A lineage as it goes out."""
        version, report = lineage.version, lineage.version.report
        return cls(
            model=version.model,
            version=version.number,
            created_at=version.created_at,
            dataset=DatasetOriginOut(
                id=report.dataset_id,
                digest=report.dataset_digest,
                name=None if lineage.dataset is None else lineage.dataset.name,
                exists=lineage.dataset is not None,
            ),
            job_id=version.job_id,
            request=None if lineage.request is None else _REQUEST.dump_python(lineage.request, mode="json"),
            imported=ImportedFromOut.of(report),
            parent=None if version.parent is None else ParentOut(version=version.parent, exists=lineage.is_parent_kept),
            software_version=report.software_version,
        )
