"""Where versions come from."""

from dataclasses import dataclass
from datetime import datetime

from relevance_bayes.types.json_schema import Id, wire


@dataclass(frozen=True)
class ImportedFrom:
    """The version that was imported, by its names where it was trained."""

    __pydantic_config__ = wire()

    model: str
    version: int
    digest: str
    """SHA-256 of the file that came, in hexadecimal digits: its `ETag` where it was."""


@dataclass(frozen=True)
class DatasetOrigin:
    """The data that was learned from."""

    __pydantic_config__ = wire()

    id: Id
    digest: str
    """SHA-256 of its content: names, kinds and values. Two datasets of one digest are the same."""
    name: str | None
    """Null once it is deleted."""
    exists: bool
    """True if it is there still."""


@dataclass(frozen=True)
class Parent:
    """The newest version when this one was recorded."""

    __pydantic_config__ = wire()

    version: int
    exists: bool
    """True if it is there still."""


@dataclass(frozen=True, kw_only=True)
class Lineage:
    """Where a version comes from: enough to make it again."""

    __pydantic_config__ = wire()

    model: str
    version: int
    created_at: datetime
    dataset: DatasetOrigin
    job_id: Id | None
    """The training that made it; null where it was imported."""
    request: dict[str, object] | None
    """The request; null is what was left to the service. The version says what that was. Null as a whole where
    the version was imported.
    """
    imported: ImportedFrom | None = None
    """The version that it was imported from; null where it was trained here."""
    parent: Parent | None
    """Null for the first version, and where it is not known."""
    software_version: str
