"""The API's schema of annotations of models and versions."""

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from app.registry.annotations import MAX_DESCRIPTION_LENGTH, MAX_VALUE_LENGTH, TAG_PATTERN, AnnotationPatch

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
