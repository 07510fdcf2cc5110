"""Options of how a body is parsed, and limits of tables."""

from dataclasses import dataclass
from typing import Literal

Decimal = Literal[".", ","]
Thousands = Literal[".", ",", " ", "'"]

OptionName = Literal["delimiter", "decimal", "thousands", "date_format", "sheet"]
"""Options that prediction requests take as query parameters."""


@dataclass(frozen=True)
class ReadOptions:
    """Options of how a body is parsed; None is detected.

    `delimiter`, `decimal`, `thousands`, `date_format` and `header` are for CSV, `sheet` for workbooks. `media_type` is
    the body's own.
    """

    delimiter: str | None = None
    decimal: Decimal | None = None
    header: bool | None = None
    sheet: str | None = None
    thousands: Thousands | None = None
    date_format: str | None = None
    media_type: str = ""


@dataclass(frozen=True)
class TableLimits:
    """The maximum numbers of columns, rows, and bytes held in memory at once, such as those of a line."""

    max_columns: int
    max_rows: int
    max_bytes: int
