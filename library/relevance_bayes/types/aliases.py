"""Aliases: names for versions, and their history."""

from dataclasses import dataclass
from datetime import datetime

from relevance_bayes.types.json_schema import wire


@dataclass(frozen=True)
class Alias:
    """The version to which an alias points, since when, by whom and why."""

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
    """The version before; null where the alias did not exist."""
    to_version: int | None
    """The version after; null where the alias was deleted."""
    reason: str | None
