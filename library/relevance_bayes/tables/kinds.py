"""Kinds of columns inferred from their first rows, and the parsing of texts as values of a kind.

A column's kind is inferred from its first `ROWS_LOOKED_AT` rows. Values of JSON and Parquet keep their type: a number
is a number, a text is a text (and a timestamp if it is written as one). A CSV cell is its text without surrounding
blanks, missing if it is empty, and parsed as

- number: digits with an optional sign, point and exponent (`-1`, `.5`, `1e308`); the tokens nan, inf and infinity count
  as numbers here and are refused when the column is read;
- boolean: `true` or `false` (also `True`, `TRUE`, ...); in a column declared boolean, `1` and `0` too;
- timestamp: ISO 8601 as `2024-05-01`, `2024-05-01T12:30`, `2024-05-01 12:30:15.25+02:00`; without an offset it is UTC.

The column has the kind of at least half of its present values, if the others are at most three distinct values or one
value in twenty (these are errors in the data, refused with their places when the column is read); any other column is
text (category). A column of missing values only is a number. Integers beyond 2**53 in magnitude, which float64 can't
represent exactly, make a number column text, so that ids keep all digits. A kind that the caller declares takes
precedence.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Literal

import numpy as np

from relevance_bayes.types.values import Cell, ColumnKind

ROWS_LOOKED_AT = 1_000
"""The number of rows from which the kind of a column is inferred."""

MAX_EXACT_INTEGER = 2**53
"""The magnitude up to which every integer is a float64."""

MAX_CELL_FAULTS = 3
SHARE_OF_CELL_FAULTS = 0.05

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_SECOND = (datetime(1, 1, 1, tzinfo=UTC) - EPOCH).total_seconds()
LAST_SECOND = (datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC) - EPOCH).total_seconds()

TRUE_TEXTS = frozenset({"true", "True", "TRUE", "1"})
FALSE_TEXTS = frozenset({"false", "False", "FALSE", "0"})

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.ASCII | re.IGNORECASE)
_TIMESTAMP = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?",
    re.ASCII,
)

_Form = Literal["number", "long", "boolean", "timestamp", "text"]


def is_number(text: str) -> bool:
    """Return whether a CSV cell, with a decimal point, is a finite number (possibly beyond float64)."""
    return _NUMBER.fullmatch(text) is not None


def is_not_finite(text: str) -> bool:
    """Return whether a CSV cell is a token for NaN or infinity."""
    return _NOT_FINITE.fullmatch(text) is not None


def is_long_integer(text: str) -> bool:
    """Return whether a CSV cell is an integer beyond 2**53 in magnitude."""
    if _INTEGER.fullmatch(text) is None:
        return False
    digits = text.lstrip("+-0")
    return len(digits) > 16 or (len(digits) == 16 and int(digits) > MAX_EXACT_INTEGER)


def seconds_of(text: str) -> float | None:
    """Return seconds since 1970 UTC of an ISO 8601 timestamp, None for an invalid one or years beyond 9999."""
    if _TIMESTAMP.fullmatch(text) is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:  # for example, 31 February
        return None
    return seconds_of_moment(moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC))


def seconds_of_moment(moment: datetime) -> float | None:
    """Return seconds since 1970 UTC of a point in time with a time zone, None for years beyond 9999."""
    seconds = (moment - EPOCH).total_seconds()
    return seconds if FIRST_SECOND <= seconds <= LAST_SECOND else None


def iso_8601(seconds: float) -> str:
    """Return a point in time as ISO 8601 in UTC, to the microsecond, without trailing zeros."""
    moment = str(np.datetime64(round(seconds * 1e6), "us"))
    return (moment.rstrip("0").rstrip(".") if "." in moment else moment) + "Z"


def kind_of_cells(cells: Iterable[Cell]) -> ColumnKind:
    """Return the kind of a column of JSON or Parquet from its first values, whose types are kept."""
    return _decide((cell, _form_of_cell(cell)) for cell in cells if cell is not None)


def kind_of_texts(texts: Iterable[str]) -> ColumnKind:
    """Return the kind of a CSV column from its first cells (without surrounding blanks, with a decimal point)."""
    return _decide((text, _form_of_text(text)) for text in texts if text)


def _form_of_cell(cell: str | int | float | bool) -> _Form:
    if isinstance(cell, bool):
        return "boolean"
    if isinstance(cell, int):
        return "long" if abs(cell) > MAX_EXACT_INTEGER else "number"
    if isinstance(cell, float):
        return "number"
    return "text" if seconds_of(cell) is None else "timestamp"


def _form_of_text(text: str) -> _Form:
    if is_number(text) or is_not_finite(text):
        return "long" if is_long_integer(text) else "number"
    if text.lower() in {"true", "false"}:
        return "boolean"
    return "text" if seconds_of(text) is None else "timestamp"


def _decide(present: Iterable[tuple[str | int | float | bool, _Form]]) -> ColumnKind:
    counts: dict[_Form, int] = dict.fromkeys(("number", "long", "boolean", "timestamp", "text"), 0)
    values: dict[_Form, set[str | int | float | bool]] = {form: set() for form in counts}
    for value, form in present:
        counts[form] += 1
        values[form].add(value)
    total = sum(counts.values())
    if total == 0:
        return "number"
    tolerated = max(MAX_CELL_FAULTS, SHARE_OF_CELL_FAULTS * total)
    families: tuple[tuple[ColumnKind, frozenset[_Form]], ...] = (
        ("number", frozenset({"number", "long"})),
        ("timestamp", frozenset({"timestamp"})),
        ("boolean", frozenset({"boolean"})),
    )
    for kind, forms in families:
        fitting = sum(counts[form] for form in forms)
        cell_faults = sum(len(values[form]) for form in counts if form not in forms)
        if 2 * fitting >= total and cell_faults <= tolerated:
            return "category" if kind == "number" and counts["long"] else kind
    return "category"
