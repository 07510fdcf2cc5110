"""Aliases: an owner's names of versions of a model, which can be moved from one version to another."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from relevance_bayes.types.errors import Fault, NotFoundError

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
