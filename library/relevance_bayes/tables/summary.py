"""Summaries of tables: size, columns and their statistics."""

from dataclasses import dataclass

from relevance_bayes.tables.columns import ColumnSummary

IMAGE_COLUMNS = ("row", "column", "intensity")
"""The columns of an image's table: a row for each pixel, in row-major order from (0, 0)."""


@dataclass(frozen=True)
class ImageSize:
    """The height and width of an image in pixels."""

    height: int
    width: int


@dataclass(frozen=True)
class TableSummary:
    """The size and the columns of a table; an image has `image` and the columns `IMAGE_COLUMNS`."""

    name: str
    rows: int
    columns: tuple[ColumnSummary, ...]
    image: ImageSize | None = None

    def column(self, name: str) -> ColumnSummary | None:
        """Return the summary of one column, or None."""
        return next((column for column in self.columns if column.name == name), None)
