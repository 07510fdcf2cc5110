"""What owners say of their models and versions."""

from typing import Annotated, TypeAlias

from fastapi import Depends, Query
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from app.domain.annotations import LONGEST_DESCRIPTION, LONGEST_VALUE, TAG_PATTERN, AnnotationPatch
from app.domain.errors import InvalidRequestError

TagName: TypeAlias = Annotated[str, Field(pattern=f"^{TAG_PATTERN}$")]
TagValue: TypeAlias = Annotated[str, Field(max_length=LONGEST_VALUE)]

MOST_TAGS_ASKED = 10


class AnnotationIn(BaseModel):
    """A JSON merge patch (RFC 7396): what is left out stays, null removes, and so it is with each tag."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    description: Annotated[str, Field(max_length=LONGEST_DESCRIPTION)] | None = None
    tags: dict[TagName, TagValue | None] | None = Field(
        None, description="Short texts by name; at most 50 in the end. A null in place of all of them removes them."
    )

    def to_patch(self) -> AnnotationPatch:
        """As the service has it."""
        said = frozenset(member for member in ("description", "tags") if member in self.model_fields_set)
        return AnnotationPatch(said, self.description, self.tags)


ANNOTATION_IN: TypeAdapter[AnnotationIn] = TypeAdapter(AnnotationIn)


async def _asked(
    tag: Annotated[
        list[Annotated[str, Field(json_schema_extra={"pattern": ":"})]],
        Query(
            description="NAME:VALUE, for what has this tag; once more for each further one that it shall have.",
            max_length=MOST_TAGS_ASKED,
            default_factory=list,
        ),
    ],
) -> dict[str, str]:
    tags: dict[str, str] = {}
    for said in tag:
        name, colon, value = said.partition(":")
        if not colon or tags.setdefault(name, value) != value:
            raise InvalidRequestError("`tag` is NAME:VALUE, each name once, as in ?tag=stage:live&tag=team:ice.")
    return tags


Tags = Annotated[dict[str, str], Depends(_asked)]
"""The tags that what is listed shall have."""
