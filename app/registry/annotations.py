"""Changes of descriptions and tags: JSON merge patches."""

from collections.abc import Mapping
from typing import Annotated, Protocol, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from app.registry.records import MAX_DESCRIPTION_LENGTH, MAX_TAGS, MAX_VALUE_LENGTH, TAG_PATTERN, Annotation
from relevance_bayes.records.errors import Fault, InvalidRequestError

TagName: TypeAlias = Annotated[str, Field(pattern=f"^{TAG_PATTERN}$")]
TagValue: TypeAlias = Annotated[str, Field(max_length=MAX_VALUE_LENGTH)]


class HasAnnotation(Protocol):
    """A model or an annotation."""

    @property
    def description(self) -> str | None: ...
    @property
    def tags(self) -> Mapping[str, str]: ...


class AnnotationIn(BaseModel):
    """A JSON merge patch (RFC 7396): omitted members are kept, null removes; the same holds for each tag."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    description: Annotated[str, Field(max_length=MAX_DESCRIPTION_LENGTH)] | None = None
    tags: dict[TagName, TagValue | None] | None = Field(
        None, description="Short texts by name; at most 50 after the patch. null instead of an object removes all tags."
    )

    def applied(self, to: HasAnnotation) -> Annotation:
        """Return the annotation after the patch; raises InvalidRequestError for too many tags."""
        description = self.description if "description" in self.model_fields_set else to.description
        if "tags" not in self.model_fields_set:
            return Annotation(description, to.tags)
        merged: dict[str, str | None] = {} if self.tags is None else {**to.tags, **self.tags}
        tags = {name: value for name, value in sorted(merged.items()) if value is not None}
        if len(tags) > MAX_TAGS:
            detail = f"Expected at most {MAX_TAGS} tags, got {len(tags)}."
            raise InvalidRequestError(detail, [Fault(detail, "/tags")])
        return Annotation(description, tags)


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


ANNOTATION_IN: TypeAdapter[AnnotationIn] = TypeAdapter(AnnotationIn)
MODEL_CHANGE_IN: TypeAdapter[ModelChangeIn] = TypeAdapter(ModelChangeIn)
