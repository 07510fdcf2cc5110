"""Kinds of columns inferred from their first rows, and the parsing of texts as values of a kind.

A column's kind is inferred from its first `ROWS_LOOKED_AT` rows. Values of JSON and Parquet keep their type: a number
is a number, a text is a text (and a timestamp if it is written as one). A CSV cell is its text without surrounding
blanks, missing if it is empty, and parsed as

- number: digits with an optional sign, point and exponent (`-1`, `.5`, `1e308`); the tokens nan, inf and infinity count
  as numbers here and are refused when the column is read;
- boolean: `true` or `false` (also `True`, `TRUE`, ...); in a column declared boolean, `1` and `0` too;
- timestamp: ISO 8601 as `2024-05-01`, `2024-05-01T12:30`, `2024-05-01 12:30:15.25+02:00`, with the offsets `+02` and
  ` UTC` and as `2024/05/01`, which databases write; without an offset it is UTC.

The column has the kind of at least half of its present values, if the others are at most three distinct values or one
value in twenty (these are errors in the data, refused with their places when the column is read); any other column is
text (category). A column of missing values only is a number. Integers beyond 2**53 in magnitude, which float64 can't
represent exactly, make a number column text, so that ids keep all digits; nanoseconds since 1970 do not. A kind that
the caller declares takes precedence.

In CSV that is written, a leading apostrophe keeps texts that a spreadsheet would take for formulas as texts, as OWASP's
page on CSV injection recommends.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Literal

import numpy as np

from relevance_bayes.records.values import Cell, ColumnKind

ROWS_LOOKED_AT = 1_000
"""The number of rows from which the kind of a column is inferred."""

MAX_EXACT_INTEGER = 2**53
"""The magnitude up to which every integer is a float64."""

MAX_CELL_FAULTS = 3
SHARE_OF_CELL_FAULTS = 0.05

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_SECOND = (datetime(1, 1, 1, tzinfo=UTC) - EPOCH).total_seconds()
END_SECOND = (datetime(9999, 12, 31, tzinfo=UTC) - EPOCH).total_seconds() + 86_400.0
"""The seconds since 1970 at which the year 10000 begins."""

TRUE_TEXTS = frozenset({"true", "True", "TRUE", "1"})
FALSE_TEXTS = frozenset({"false", "False", "FALSE", "0"})

MISSING_TEXTS = frozenset(
    {
        *("na", "n/a", "n.a.", "#n/a", "#na", "<na>", "nan", "-nan", "nat", "null", "(null)", "\\n", "none", "nil"),
        *("?", "-", "--", "---", "\u2013", "\u2014", ".", "..", "...", "*", "**", ":"),
    }
)
"""The texts, in lower case, that programs and people write for a missing number, boolean or time."""

MAX_NUMBER_LENGTH = 2_000
"""The maximum length of a number in characters; a longer text is none. Each float64 has at most 1,077 of them."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.ASCII | re.IGNORECASE)
_TIMESTAMP = re.compile(
    r"(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{4}/[0-9]{2}/[0-9]{2})"
    r"(?P<time>[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?)?"
    r"(?P<zone>(?<=[0-9]) ?(?:Z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?))?",
    re.ASCII,
)
_NANOSECONDS = range(631_152_000 * 10**9, 4_102_444_800 * 10**9)
"""The nanoseconds since 1970 of the years 1990 to 2099."""

_Form = Literal["number", "long", "boolean", "timestamp", "text"]


def is_missing_text(text: str) -> bool:
    """Return whether a text without surrounding blanks means a missing value by default, in any case."""
    return text.lower() in MISSING_TEXTS


def is_number(text: str) -> bool:
    """Return whether a CSV cell of MAX_NUMBER_LENGTH characters at most, with a decimal point, is a finite number.

    It may be beyond float64.
    """
    return len(text) <= MAX_NUMBER_LENGTH and _NUMBER.fullmatch(text) is not None


def is_not_finite(text: str) -> bool:
    """Return whether a CSV cell is a token for NaN or infinity."""
    return _NOT_FINITE.fullmatch(text) is not None


def is_long_integer(text: str) -> bool:
    """Return whether a CSV cell is an integer beyond 2**53 in magnitude, other than nanoseconds since 1970."""
    if _INTEGER.fullmatch(text) is None:
        return False
    digits = text.lstrip("+-0")
    if len(digits) == 19 and is_nanoseconds(int(digits)):
        return False
    return len(digits) > 16 or (len(digits) == 16 and int(digits) > MAX_EXACT_INTEGER)


def is_nanoseconds(value: int) -> bool:
    """Return whether an integer is a point in time of 1990 to 2099 in nanoseconds since 1970, to the microsecond.

    Such numbers are times that a program wrote as integers, and are rounded to float64 (by less than 256 ns); other
    integers of their size are ids, of which one in a thousand has these digits.
    """
    return value in _NANOSECONDS and value % 1_000 == 0


def seconds_of(text: str) -> float | None:
    """Return seconds since 1970 UTC of an ISO 8601 timestamp, None for an invalid one or years beyond 9999.

    Slashes may separate year, month and day, and UTC or GMT stand for the offset, as databases write it.
    """
    found = _TIMESTAMP.fullmatch(text)
    if found is None or (found["zone"] and not found["time"]):
        return None
    zone = (found["zone"] or "").strip()
    try:
        moment = datetime.fromisoformat(
            f"{found['day'].replace('/', '-')}{found['time'] or ''}{'Z' if zone in {'UTC', 'GMT'} else zone}"
        )
    except ValueError:  # for example, 31 February
        return None
    return seconds_of_moment(moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC))


def seconds_of_moment(moment: datetime) -> float | None:
    """Return seconds since 1970 UTC of a point in time with a time zone, None for years beyond 9999."""
    seconds = (moment - EPOCH).total_seconds()
    return seconds if FIRST_SECOND <= seconds < END_SECOND else None


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
        return "long" if abs(cell) > MAX_EXACT_INTEGER and not is_nanoseconds(cell) else "number"
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


_BEGINNING = re.compile(r"[=+\-@\t\r\n]")


def escaped(text: str) -> str:
    """Return the text, after an apostrophe where it may be a formula; numbers are not, whatever their sign."""
    return f"'{text}" if _BEGINNING.match(text) and not is_number(text) else text
