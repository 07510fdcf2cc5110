"""Aliases: names of an owner's own, each for a version of a model, that move from one to another."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from relevance_bayes.types.errors import Fault, NotFoundError

MAX_ALIASES = 100
"""Most that one model may have."""

MAX_REASON_LENGTH = 500


@dataclass(frozen=True)
class Alias:
    """Where an alias points, since when, by whom and why; `move_id` is its last move's, a new one each time."""

    model: str
    name: str
    version: int
    moved_at: datetime
    moved_by: str
    reason: str | None
    move_id: UUID

    @property
    def tag(self) -> str:
        """Return what tells this state of the alias from every other one."""
        return f'"{self.move_id}"'


@dataclass(frozen=True)
class MovedAlias:
    """An alias after it was to be moved; `is_new`: there was none before."""

    alias: Alias
    is_new: bool


def nowhere(error: NotFoundError) -> NotFoundError:
    """The version to which an alias was to be moved is not there: the same, with its place in what was asked."""
    return NotFoundError(error.detail, [Fault(error.detail, "/version")])
