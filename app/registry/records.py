"""Models, their immutable, numbered versions, annotations, aliases and lineage."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal
from uuid import UUID

from app.datasets.records import Dataset
from relevance_bayes.documents.models import VersionReport
from relevance_bayes.plans.requests import TrainingRequest
from relevance_bayes.records.errors import Fault, InvalidRequestError, NotFoundError

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


MAX_ALIASES = 100
"""The most aliases of one model."""

MAX_REASON_LENGTH = 500


@dataclass(frozen=True)
class Alias:
    """An alias with its version and its last move: time, author and reason; `move_id` is new with each move."""

    model: str
    name: str
    version: int
    moved_at: datetime
    moved_by: str
    reason: str | None
    move_id: UUID

    @property
    def tag(self) -> str:
        """Return the ETag of this state of the alias."""
        return f'"{self.move_id}"'


@dataclass(frozen=True)
class MovedAlias:
    """An alias after a move; `is_new`: the move has created it."""

    alias: Alias
    is_new: bool


def nowhere(error: NotFoundError) -> NotFoundError:
    """Return the error for a missing version as the target of a move, with a pointer into the request."""
    return NotFoundError(error.detail, [Fault(error.detail, "/version")])


@dataclass(frozen=True)
class Version:
    """A recorded version; only its annotation changes. The report has no diagnostics, which are read apart.

    `parent` is the number of the newest version of its model when it was recorded; None where there was none. `job_id`
    is None for an imported version.
    """

    id: UUID
    owner: str
    model: str
    number: int
    job_id: UUID | None
    created_at: datetime
    report: VersionReport
    parent: int | None = None
    annotation: Annotation = Annotation()


@dataclass(frozen=True)
class Model:
    """A model and its newest version; `target` is None for a task without one.

    `aliases` maps names to the numbers of versions. `record` is the share of predictions with row ids that is recorded.
    """

    name: str
    owner: str
    created_at: datetime
    task: str
    target: str | None
    inputs: tuple[str, ...]
    versions: int
    latest: int | None
    aliases: Mapping[str, int] = field(default_factory=dict)
    annotation: Annotation = Annotation()
    record: float = 0.0


@dataclass(frozen=True)
class Lineage:
    """A version, the request of its training, and its dataset, None if that was deleted.

    `request` is None for an imported version. `is_parent_kept`: the version before it still exists.
    """

    version: Version
    request: TrainingRequest | None
    dataset: Dataset | None
    is_parent_kept: bool
