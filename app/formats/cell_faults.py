"""Messages for values that do not fit their column."""

import json
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from relevance_bayes.records.errors import Fault, InvalidDataError
from relevance_bayes.records.values import ColumnKind

MAX_FAULTS_REPORTED = 20
"""The maximum number of faults in a response."""

MAX_FAULTS = 1_000
"""The maximum number of faults that are counted, so that a list of faults is never larger than its table."""

MAX_CHARACTERS = 100_000
"""The maximum number of characters of a cell."""

FaultKind = Literal["value", "other_kind", "long_integer"]
"""The kind of a fault: an integer that float64 would round is a text; a value of another kind may be; others are not.
"""


class CellFault(NamedTuple):
    """A cell that does not fit in its column: the row within the block, and the message."""

    row: int
    detail: str
    kind: FaultKind = "value"


CellFaults = list[CellFault]

EXPECTED: dict[ColumnKind, str] = {
    "number": "a number",
    "boolean": "true or false",
    "category": "a text",
    "timestamp": "an ISO 8601 timestamp",
}

NOT_OF_KIND: dict[ColumnKind, str] = {kind: f"The value is not {expected}." for kind, expected in EXPECTED.items()}
"""The messages for values of another kind, after the first `MAX_FAULTS` of a column, whose messages quote the value."""

KINDS_HINT = " A column's kind can be declared: kinds=NAME:KIND."


def not_a(kind: ColumnKind, value: object) -> str:
    """Return the message for a value of another kind than its column's."""
    return f"{shown(value)} is not {EXPECTED[kind]}."


def not_finite(token: str) -> str:
    """Return the message for NaN or infinity."""
    return f"{token} is not a finite number; for a missing value, leave the cell empty (null in JSON)."


def out_of_range(value: object) -> str:
    """Return the message for a number that float64 can't represent."""
    return f"{shown(value)} is beyond the range of a 64-bit number (about 1.8e308)."


def long_integer(row: int, value: object) -> CellFault:
    """Return the fault of an integer that float64 would round, in a column whose kind was inferred."""
    detail = (
        f"{shown(value)} has more digits than a 64-bit number can represent; declare the column as category to keep "
        "them, as number to round them."
    )
    return CellFault(row, detail, "long_integer")


def faults_of(wrong: Mapping[str, CellFaults], first_row: int = 0) -> list[Fault]:
    """Return the faults of columns, by name, of a block that begins in row `first_row`."""
    return [Fault(one.detail, row=first_row + one.row, column=name) for name, found in wrong.items() for one in found]


def bad_text(text: str) -> str | None:
    """Return why a text can't be stored, None if it can."""
    if "\0" in text:
        return f"{shown(text)} contains NUL."
    if len(text) > MAX_CHARACTERS:
        return f"Expected at most {MAX_CHARACTERS:,} characters, got {len(text):,}: {shown(text)}."
    return None


def shown(value: object) -> str:
    """Return a value as JSON for a message, truncated if it is long."""
    text = json.dumps(value, ensure_ascii=False, default=lambda other: f"<{type(other).__name__}>")
    return text if len(text) <= 60 else text[:57] + "..."


def refuse(faults: Sequence[Fault], hint: str = "") -> None:
    """Raise InvalidDataError for the first of `faults`, with a hint; return if there are none."""
    if not faults:
        return
    first, count = faults[0], f"{len(faults):,}" if len(faults) != MAX_FAULTS else f"at least {MAX_FAULTS:,}"
    more = f" This is the first of {count} faults." if len(faults) > 1 else ""
    raise InvalidDataError(f"{_place(first)}{first.detail}{hint}{more}", faults[:MAX_FAULTS_REPORTED])


def _place(fault: Fault) -> str:
    """Return the place of a fault as the beginning of a sentence."""
    column = f"column {shown(fault.column)}" if fault.column is not None else None
    where = ", ".join(filter(None, (*fault.row_names[:1], column)))
    return f"{where[:1].upper()}{where[1:]}: " if where else ""
