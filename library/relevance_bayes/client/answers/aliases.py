"""Names for versions, and how they moved."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Alias:
    """Where an alias points, since when, by whom and why."""

    model: str
    alias: str
    version: int
    moved_at: datetime
    moved_by: str
    reason: str | None


@dataclass(frozen=True)
class AliasMove:
    """One move, numbered from 1: from no version when the alias was made, to none when it was removed."""

    number: int
    at: datetime
    by: str
    from_version: int | None
    to_version: int | None
    reason: str | None
