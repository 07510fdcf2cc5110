"""Options that say how a body is written, and the limits of tables."""

from dataclasses import dataclass
from typing import Literal

Decimal = Literal[".", ","]

OptionName = Literal["delimiter", "decimal", "sheet"]
"""Options that the rows to predict for may come with, in the URL's query."""


@dataclass(frozen=True)
class ReadOptions:
    """Options that say how a body is written; None is found out.

    `delimiter`, `decimal` and `header` are of CSV, `sheet` is of workbooks. `media_type` is the body's own.
    """

    delimiter: str | None = None
    decimal: Decimal | None = None
    header: bool | None = None
    sheet: str | None = None
    media_type: str = ""


@dataclass(frozen=True)
class TableLimits:
    """The greatest table that is read: columns, rows, and bytes that are held in memory at once, as those of a line."""

    max_columns: int
    max_rows: int
    max_bytes: int
