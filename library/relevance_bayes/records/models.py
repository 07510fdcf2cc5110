"""Models, aliases of their versions, and parts of all versions."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, TypeAlias

from pydantic import Field

from relevance_bayes.records.annotations import Id, wire
from relevance_bayes.records.references import VersionSelector

MAX_REASON_LENGTH = 500

Reason: TypeAlias = Annotated[
    str, Field(max_length=MAX_REASON_LENGTH, description="Why the alias moves, for its history.")
]


@dataclass(frozen=True)
class Model:
    """A model: a name, and what its versions have in common."""

    __pydantic_config__ = wire()

    name: str
    created_at: datetime
    task: str
    target: str | None
    """The target; null for tasks without a target."""
    inputs: tuple[str, ...]
    versions: int
    """The number of versions."""
    latest: int | None
    """The number of the newest version."""
    aliases: dict[str, int]
    """The numbers of the versions to which aliases point."""
    description: str | None
    tags: dict[str, str]
    record: float = 0.0
    """The share of predictions with row ids that is recorded, to be compared with outcomes."""


@dataclass(frozen=True)
class DatasetName:
    """The training data; the digest is of their content."""

    __pydantic_config__ = wire()

    id: Id
    digest: str


@dataclass(frozen=True)
class TermsError:
    """The error with this number of terms."""

    __pydantic_config__ = wire()

    functions: int
    error: float


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
class AliasIn:
    """The version that an alias is to point to."""

    __pydantic_config__ = wire(extra="forbid")

    version: VersionSelector
    """The version's number, or another alias, resolved now."""
    reason: Reason | None = None


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
