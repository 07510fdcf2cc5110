"""Datasets: immutable tables, and images as such, that a caller owns."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from relevance_bayes.tables.summary import ImageSize, TableSummary
from relevance_bayes.types.values import ColumnKind


@dataclass(frozen=True)
class Upload:
    """A dataset on its way in: nobody but its uploader knows of it."""

    id: UUID
    owner: str
    name: str
    created_at: datetime
    names: tuple[str, ...]
    kinds: tuple[ColumnKind, ...]
    image: ImageSize | None = None


@dataclass(frozen=True, kw_only=True)
class Dataset(TableSummary):
    """A finished dataset.

    `digest` is the SHA-256 of its typed content: names, kinds and values, not of the bytes that came.
    """

    id: UUID
    owner: str
    created_at: datetime
    digest: str
