"""Summaries of tables: size, columns and their statistics."""

from dataclasses import dataclass

from relevance_bayes.tables.columns import ColumnSummary

IMAGE_COLUMNS = ("row", "column", "intensity")
"""Of an image's table: a row for each pixel, line after line; (0, 0) is the first."""


@dataclass(frozen=True)
class ImageSize:
    """So many lines of so many pixels."""

    height: int
    width: int


@dataclass(frozen=True)
class TableSummary:
    """A table by its size and its columns; an `image` has the columns `IMAGE_COLUMNS`, a table is none."""

    name: str
    rows: int
    columns: tuple[ColumnSummary, ...]
    image: ImageSize | None = None

    def column(self, name: str) -> ColumnSummary | None:
        """The summary of one column, or None."""
        return next((column for column in self.columns if column.name == name), None)
