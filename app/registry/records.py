"""Immutable, numbered versions of models, annotations of both, and aliases."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from relevance_bayes.records.errors import Fault, NotFoundError
from relevance_bayes.records.models import Alias
from relevance_bayes.tasks.union import VersionReport

MAX_DESCRIPTION_LENGTH = 2_000
MAX_TAGS = 50
TAG_PATTERN = r"[A-Za-z][A-Za-z0-9._/-]{0,62}"
"""The pattern of tag names: no colon, which separates name and value in queries."""

MAX_VALUE_LENGTH = 200

NO_TAGS: Mapping[str, str] = {}


@dataclass(frozen=True)
class Annotation:
    """A description, and tags: short texts by name."""

    description: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)


MAX_ALIASES = 100
"""The most aliases of one model."""


@dataclass(frozen=True)
class StoredAlias(Alias):
    """An alias with the id of its last move, which is new with each."""

    move_id: UUID = field(metadata={"exclude": True})

    @property
    def tag(self) -> str:
        """Return the ETag of this state of the alias."""
        return f'"{self.move_id}"'


@dataclass(frozen=True)
class MovedAlias:
    """An alias after a move; `is_new`: the move has created it."""

    alias: StoredAlias
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
