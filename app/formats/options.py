"""Options of how a body is parsed, and limits of tables."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from relevance_bayes.records.values import ColumnKind, DecimalMark, NumberForm, TextEncoding, ThousandsMark

MAX_SKIPPED_ROWS = 1_000
"""The maximum number of lines or rows above a table."""

OptionName = Literal[
    "delimiter", "decimal", "thousands", "date_format", "missing_values", "encoding", "skip_rows", "sheet"
]
"""Options that prediction requests take as query parameters."""


@dataclass(frozen=True)
class ReadOptions:
    """Options of how a body is parsed; None is detected.

    `delimiter`, `decimal`, `thousands`, `date_format`, `encoding` and `header` are for CSV, `sheet` for workbooks;
    `missing_values`, texts in the place of the default markers, and `skip_rows`, the number of lines or rows above the
    table, for both. `media_type` is the body's own. `revised` are kinds of columns whose later rows contradicted the
    inferred ones. `has_errors`: cells may have errors of a spreadsheet. `forms` are those of the numbers by which a
    version was trained, by column; in other columns they are detected.
    """

    delimiter: str | None = None
    decimal: DecimalMark | None = None
    header: bool | None = None
    sheet: str | None = None
    thousands: ThousandsMark | None = None
    date_format: str | None = None
    missing_values: tuple[str, ...] | None = None
    encoding: TextEncoding | None = None
    skip_rows: int | None = None
    media_type: str = ""
    revised: Mapping[str, ColumnKind] = field(default_factory=dict)
    has_errors: bool = False
    forms: Mapping[str, NumberForm] = field(default_factory=dict)

    def known(self, declared: Mapping[str, ColumnKind]) -> Mapping[str, ColumnKind]:
        """Return the kinds that are not inferred from the first rows: the `declared` and the revised ones."""
        return {**self.revised, **declared}


@dataclass(frozen=True)
class TableLimits:
    """The maximum numbers of columns and rows, of bytes held in memory at once, such as those of a line, and of bytes
    that the cells of compressed columns take in all once they are decoded."""

    max_columns: int
    max_rows: int
    max_bytes: int
    max_decoded_bytes: int
