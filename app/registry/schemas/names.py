"""The API's schemas of models, aliases, annotations and lineage."""

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from app.registry.records import (
    MAX_DESCRIPTION_LENGTH,
    MAX_REASON_LENGTH,
    MAX_VALUE_LENGTH,
    TAG_PATTERN,
    Alias,
    AnnotationPatch,
    Lineage,
    Model,
)
from relevance_bayes.plans.requests import TrainingRequest
from relevance_bayes.records import lineage as types
from relevance_bayes.records import models as records
from relevance_bayes.records.lineage import DatasetOrigin, Parent
from relevance_bayes.records.references import ALIAS_PATTERN, MAX_NUMBER

Reason: TypeAlias = Annotated[
    str, Field(max_length=MAX_REASON_LENGTH, description="Why the alias moves, for its history.")
]


class AliasIn(BaseModel):
    """The version that an alias is to point to."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Annotated[int, Field(ge=1, le=MAX_NUMBER)] | Annotated[str, Field(pattern=f"^{ALIAS_PATTERN}$")] = Field(
        description="The version's number, or another alias, resolved now."
    )
    reason: Reason | None = None


ALIAS_IN: TypeAdapter[AliasIn] = TypeAdapter(AliasIn)


def alias_record(alias: Alias) -> records.Alias:
    """Return the API's form of an alias."""
    return records.Alias(
        model=alias.model,
        alias=alias.name,
        version=alias.version,
        moved_at=alias.moved_at,
        moved_by=alias.moved_by,
        reason=alias.reason,
    )


TagName: TypeAlias = Annotated[str, Field(pattern=f"^{TAG_PATTERN}$")]
TagValue: TypeAlias = Annotated[str, Field(max_length=MAX_VALUE_LENGTH)]


class AnnotationIn(BaseModel):
    """A JSON merge patch (RFC 7396): omitted members are kept, null removes; the same holds for each tag."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    description: Annotated[str, Field(max_length=MAX_DESCRIPTION_LENGTH)] | None = None
    tags: dict[TagName, TagValue | None] | None = Field(
        None, description="Short texts by name; at most 50 after the patch. null instead of an object removes all tags."
    )

    def to_patch(self) -> AnnotationPatch:
        """Return the patch as the service's record."""
        given = frozenset(member for member in ("description", "tags") if member in self.model_fields_set)
        return AnnotationPatch(given, self.description, self.tags)


ANNOTATION_IN: TypeAdapter[AnnotationIn] = TypeAdapter(AnnotationIn)


class ModelChangeIn(AnnotationIn):
    """A JSON merge patch (RFC 7396) of a model: omitted members are kept, null removes; the same holds for each tag."""

    record: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = Field(
        None,
        description="The share of predictions with row ids that is recorded, to be compared with outcomes; null and 0 "
        "record none.",
    )

    @property
    def record_share(self) -> float | None:
        """Return the new share; None where it is kept."""
        return (self.record or 0.0) if "record" in self.model_fields_set else None


MODEL_CHANGE_IN: TypeAdapter[ModelChangeIn] = TypeAdapter(ModelChangeIn)


_REQUEST: TypeAdapter[TrainingRequest] = TypeAdapter(TrainingRequest)


def lineage_record(lineage: Lineage) -> types.Lineage:
    """Return the API's form of a lineage."""
    version, report = lineage.version, lineage.version.report
    return types.Lineage(
        model=version.model,
        version=version.number,
        created_at=version.created_at,
        dataset=DatasetOrigin(
            id=str(report.dataset_id),
            digest=report.dataset_digest,
            name=None if lineage.dataset is None else lineage.dataset.name,
            exists=lineage.dataset is not None,
        ),
        job_id=None if version.job_id is None else str(version.job_id),
        request=None if lineage.request is None else _REQUEST.dump_python(lineage.request, mode="json"),
        imported=report.imported,
        parent=None if version.parent is None else Parent(version=version.parent, exists=lineage.is_parent_kept),
        software_version=report.software_version,
    )


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
