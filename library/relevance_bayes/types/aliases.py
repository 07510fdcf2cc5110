"""Aliases: names for versions, and how they moved."""

from dataclasses import dataclass
from datetime import datetime

from relevance_bayes.types.json_schema import wire


@dataclass(frozen=True)
class Alias:
    """Where an alias points, since when, by whom and why."""

    __pydantic_config__ = wire()

    model: str
    alias: str
    version: int
    moved_at: datetime
    moved_by: str
    reason: str | None


@dataclass(frozen=True)
class AliasMove:
    """One move of an alias, numbered from 1."""

    __pydantic_config__ = wire()

    number: int
    at: datetime
    by: str
    from_version: int | None
    """Where it pointed before; null where there was no such alias."""
    to_version: int | None
    """Where it pointed then; null where it was removed."""
    reason: str | None
