"""Annotations of models and versions: a description, and tags."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from relevance_bayes.types.errors import Fault, InvalidRequestError

MAX_DESCRIPTION_LENGTH = 2_000
MAX_TAGS = 50
TAG_PATTERN = r"[A-Za-z][A-Za-z0-9._/-]{0,62}"
"""The pattern of tag names: no colon, which stands between a name and a value."""

MAX_VALUE_LENGTH = 200

NO_TAGS: Mapping[str, str] = {}

Member = Literal["description", "tags"]


@dataclass(frozen=True)
class Annotation:
    """A text, and short texts by name."""

    description: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class AnnotationPatch:
    """A JSON merge patch (RFC 7396): members that are not `given` stay, None removes, and so it is with each tag."""

    given: frozenset[Member]
    description: str | None = None
    tags: Mapping[str, str | None] | None = None

    def applied(self, to: Annotation) -> Annotation:
        """Return what is said from now on; raises InvalidRequestError where these are too many tags."""
        after = replace(to, description=self.description) if "description" in self.given else to
        if "tags" not in self.given:
            return after
        merged: dict[str, str | None] = {} if self.tags is None else {**to.tags, **self.tags}
        tags = {name: value for name, value in sorted(merged.items()) if value is not None}
        if len(tags) > MAX_TAGS:
            detail = f"There may be {MAX_TAGS} tags; these would be {len(tags)}."
            raise InvalidRequestError(detail, [Fault(detail, "/tags")])
        return replace(after, tags=tags)
