"""Datasets: immutable tables that a caller owns."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.domain.tables import ColumnKind, ColumnSummary


@dataclass(frozen=True)
class Upload:
    """A dataset on its way in: nobody but its uploader knows of it."""

    id: UUID
    owner: str
    name: str
    created_at: datetime
    names: tuple[str, ...]
    kinds: tuple[ColumnKind, ...]


@dataclass(frozen=True)
class Dataset:
    """A finished dataset.

    `digest` is the SHA-256 of its typed content: names, kinds and values, not of the bytes that came.
    """

    id: UUID
    owner: str
    name: str
    created_at: datetime
    rows: int
    digest: str
    columns: tuple[ColumnSummary, ...]

    def column(self, name: str) -> ColumnSummary | None:
        """The summary of one column, or None."""
        return next((column for column in self.columns if column.name == name), None)
