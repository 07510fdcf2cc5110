"""Annotations of models and versions: a description, and tags."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from relevance_bayes.types.errors import Fault, InvalidRequestError

MAX_DESCRIPTION_LENGTH = 2_000
MAX_TAGS = 50
TAG_PATTERN = r"[A-Za-z][A-Za-z0-9._/-]{0,62}"
"""The pattern of tag names: no colon, which separates name and value in queries."""

MAX_VALUE_LENGTH = 200

NO_TAGS: Mapping[str, str] = {}

Member = Literal["description", "tags"]


@dataclass(frozen=True)
class Annotation:
    """A description, and tags: short texts by name."""

    description: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class AnnotationPatch:
    """A JSON merge patch (RFC 7396): members not `given` are kept, None removes; the same holds for each tag."""

    given: frozenset[Member]
    description: str | None = None
    tags: Mapping[str, str | None] | None = None

    def applied(self, to: Annotation) -> Annotation:
        """Return the annotation after the patch; raises InvalidRequestError for too many tags."""
        after = replace(to, description=self.description) if "description" in self.given else to
        if "tags" not in self.given:
            return after
        merged: dict[str, str | None] = {} if self.tags is None else {**to.tags, **self.tags}
        tags = {name: value for name, value in sorted(merged.items()) if value is not None}
        if len(tags) > MAX_TAGS:
            detail = f"Expected at most {MAX_TAGS} tags, got {len(tags)}."
            raise InvalidRequestError(detail, [Fault(detail, "/tags")])
        return replace(after, tags=tags)
