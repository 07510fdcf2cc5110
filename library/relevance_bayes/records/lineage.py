"""The lineage of versions."""

from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from relevance_bayes.records.annotations import Id, wire


@dataclass(frozen=True)
class ImportedFrom:
    """The original of an imported version."""

    __pydantic_config__ = wire()

    model: str
    version: int
    digest: str
    """SHA-256 of the imported file, in hexadecimal digits: its `ETag` at the original service."""


@dataclass(frozen=True)
class DatasetOrigin:
    """The training data."""

    __pydantic_config__ = wire()

    id: Id
    digest: str
    """SHA-256 of its content: names, kinds and values. Datasets with the same digest are identical."""
    name: str | None
    """Null after it is deleted."""
    exists: bool
    """True if it still exists."""


@dataclass(frozen=True)
class Parent:
    """The newest version at the time when this one was recorded."""

    __pydantic_config__ = wire()

    version: int
    exists: bool
    """True if it still exists."""


@dataclass(frozen=True, kw_only=True)
class Lineage:
    """The origin of a version, with all that is needed to reproduce it."""

    __pydantic_config__ = wire()

    model: str
    version: int
    created_at: datetime
    dataset: DatasetOrigin
    job_id: Id | None
    """The training; null for an imported version."""
    request: dict[str, object] | None
    """The request, in which null is a default; the version has the resolved values. Null for an imported version."""
    imported: ImportedFrom | None = None
    """The original of an imported version; null for a version trained here."""
    parent: Parent | None
    """Null for the first version, and where it is unknown."""
    software_version: str


OtherMembers: TypeAlias = dict[str, dict[str, object]]
"""The members of an imported document, in `sums`, `groups` and `source`, that are not known here, and are exported with
it again."""
