"""Datasets: immutable tables, and images as such, that a caller owns."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.domain.tables import ColumnSummary
from relevance_bayes.types.values import ColumnKind

IMAGE_COLUMNS = ("row", "column", "intensity")
"""Of an image's table: a row for each pixel, line after line; (0, 0) is the first."""


@dataclass(frozen=True)
class ImageSize:
    """So many lines of so many pixels."""

    height: int
    width: int


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


@dataclass(frozen=True)
class Dataset:
    """A finished dataset.

    `digest` is the SHA-256 of its typed content: names, kinds and values, not of the bytes that came. An `image` has
    the columns `IMAGE_COLUMNS`; a table is none.
    """

    id: UUID
    owner: str
    name: str
    created_at: datetime
    rows: int
    digest: str
    columns: tuple[ColumnSummary, ...]
    image: ImageSize | None = None

    def column(self, name: str) -> ColumnSummary | None:
        """The summary of one column, or None."""
        return next((column for column in self.columns if column.name == name), None)
