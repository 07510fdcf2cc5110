"""Cells: JSON values to typed columns, the columns and limits of rows to predict for, and messages for faults."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from types import NoneType
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.errors import TooLargeError
from relevance_bayes.records.errors import Fault, InvalidDataError
from relevance_bayes.records.values import ColumnKind, NumberForm, text_of
from relevance_bayes.tables.columns import Block, BooleanArray, CategoryArray, Column, NumberArray, TimestampArray
from relevance_bayes.tables.kinds import MAX_EXACT_INTEGER, is_nanoseconds, seconds_of

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


Columns = tuple[tuple[str, ColumnKind], ...]
"""Names and kinds, in the order of a model's inputs."""

MIN_MAX_MEMBERS = 1_000
"""The minimum of `max_members`: such a row is decoded, so that the error lists each wrong name."""


@dataclass(frozen=True)
class Expected:
    """The required `columns`; `noise`, an optional column of numbers, for all rows; optional columns that are
    `not_read`; the maximum number of rows, and the maximum decompressed size; the `forms` of the numbers by which the
    version was trained."""

    columns: Columns
    noise: str | None
    not_read: frozenset[str]
    max_rows: int
    max_bytes: int
    forms: Mapping[str, NumberForm] = field(default_factory=dict)

    def among(self, names: Sequence[str], *, line: int | None = None) -> Columns:
        """Return the columns to read of a table with these; raises InvalidDataError for missing, unknown and repeated
        ones."""
        required = self.columns if self.noise is None or self.noise not in names else self.with_noise
        known, here = {name for name, _ in required} | self.not_read, set(names)
        missing = (Fault("The column is missing.", column=name, line=line) for name, _ in required if name not in here)
        unknown = (Fault("There is no such column.", column=name, line=line) for name in names if name not in known)
        twice = (name for name, count in Counter(names).items() if count > 1 and name in known)
        repeated = (Fault("The column is named twice.", column=name, line=line) for name in twice)
        refuse([*islice(chain(missing, unknown, repeated), MAX_FAULTS)])
        return required

    @property
    def max_members(self) -> int:
        """The number of members above which a row in JSON is refused before it is decoded."""
        return max(MIN_MAX_MEMBERS, 2 * len(self.columns))

    @property
    def with_noise(self) -> Columns:
        """Return the columns, and last that of the noise."""
        return self.columns if self.noise is None else (*self.columns, (self.noise, "number"))

    def check_rows(self, rows: int) -> None:
        """Raise TooLargeError for too many rows."""
        if rows > self.max_rows:
            raise TooLargeError(f"Expected at most {self.max_rows:,} rows, got more; split the request.")

    def check_bytes(self, size: int) -> None:
        """Raise TooLargeError for too many bytes."""
        if size > self.max_bytes:
            detail = f"Expected at most {self.max_bytes:,} bytes once decompressed, got more; split the request."
            raise TooLargeError(detail)


@dataclass(frozen=True, eq=False)
class ReadRows:
    """The rows, and the faults of cells, which are missing in the block.

    `lines` are the numbers of the rows' lines, from 1, in formats with one row a line.
    """

    block: Block
    cell_faults: tuple[Fault, ...]
    lines: tuple[int, ...] = ()


def need_rows(rows: int) -> None:
    """Raise InvalidDataError where there are no rows."""
    if not rows:
        raise InvalidDataError("The table has no rows.")


JSON = str | int | float | bool | None | list["JSON"] | dict[str, "JSON"]
"""Any JSON value."""

NUMBERS = frozenset({int, float, NoneType})
PRESENT_NUMBERS = frozenset({int, float})
MAX_CELLS_TOGETHER = 100
"""The maximum number of rows of a table whose numbers are converted at once."""


def column_of(kind: ColumnKind, cells: Sequence[JSON], *, exact: bool = False) -> tuple[Column, CellFaults]:
    """Return a column (N,) of `kind` from N cells, missing where they are None or do not fit, and the faults.

    A string is not accepted as a number, boolean or timestamp, nor a number as a timestamp; 0 and 1 are accepted as
    booleans, and a text column takes numbers and booleans as JSON writes them. `exact` refuses integers that float64
    would round.
    """
    match kind:
        case "number":
            return _numbers(cells, exact=exact)
        case "boolean":
            return _booleans(cells)
        case "category":
            return _texts(cells)
        case "timestamp":
            return _timestamps(cells)


def block_of(
    columns: Sequence[tuple[str, ColumnKind]], cells: Sequence[Sequence[JSON]]
) -> tuple[dict[str, Column], dict[str, CellFaults]]:
    """Return columns of N cells each by name, and their faults by name.

    Each row with a cell that does not fit has at least one fault; all faults are listed up to `MAX_FAULTS`. The numbers
    of a short table are converted at once where all fit, since most predictions are for one such row.
    """
    together = _numbers_together([row for (_, kind), row in zip(columns, cells, strict=True) if kind == "number"])
    block: dict[str, Column] = {}
    wrong: dict[str, CellFaults] = {}
    count, rows = 0, set[int]()
    for (name, kind), values in zip(columns, cells, strict=True):
        if together is not None and kind == "number":
            block[name] = NumberArray(next(together))
            continue
        block[name], cell_faults = column_of(kind, values)
        if count > MAX_FAULTS:  # beyond the maximum, one fault a row is enough
            cell_faults = [one for one in cell_faults if one.row not in rows]
        if cell_faults:
            wrong[name] = cell_faults
            count += len(cell_faults)
            rows.update(one.row for one in cell_faults)
    return block, wrong


def _numbers_together(columns: Sequence[Sequence[JSON]]) -> Iterator[NDArray[np.float64]] | None:
    """Return the columns, None where there are none, they are long, or a cell does not fit."""
    if not columns or len(columns[0]) > MAX_CELLS_TOGETHER:
        return None
    flat = list(chain.from_iterable(columns))
    if not {*map(type, flat)} <= PRESENT_NUMBERS:
        return None
    try:
        values = np.array(flat, dtype=np.float64)
    except OverflowError:
        return None
    return iter(values.reshape(len(columns), -1)) if np.isfinite(values).all() else None


def _numbers(cells: Sequence[JSON], *, exact: bool) -> tuple[NumberArray, CellFaults]:
    types = set(map(type, cells))
    if types <= NUMBERS and not (exact and int in types and any(map(_is_long, cells))):
        try:
            values = np.array(cells, dtype=np.float64)
        except OverflowError:
            pass
        else:
            finite = np.isfinite(values)
            if finite.all() or len(cells) - int(finite.sum()) == cells.count(None):
                return NumberArray(values), []
    values = np.full(len(cells), np.nan)
    cell_faults: CellFaults = []
    for row, cell in enumerate(cells):
        if cell is None:
            continue
        if isinstance(cell, bool) or not isinstance(cell, int | float):
            cell_faults.append(_not_a("number", row, cell, cell_faults))
        elif exact and _is_long(cell):
            cell_faults.append(long_integer(row, cell))
        else:
            try:
                values[row] = cell
            except OverflowError:
                cell_faults.append(CellFault(row, out_of_range(cell)))
            else:
                if not np.isfinite(values[row]):
                    values[row] = np.nan
                    cell_faults.append(CellFault(row, not_finite(str(cell))))
    return NumberArray(values), cell_faults


def _not_a(kind: ColumnKind, row: int, cell: JSON, before: CellFaults) -> CellFault:
    detail = not_a(kind, cell) if len(before) < MAX_FAULTS else NOT_OF_KIND[kind]
    return CellFault(row, detail, "other_kind")


def _is_long(cell: JSON) -> bool:
    return type(cell) is int and abs(cell) > MAX_EXACT_INTEGER and not is_nanoseconds(cell)


def _booleans(cells: Sequence[JSON]) -> tuple[BooleanArray, CellFaults]:
    values = np.full(len(cells), -1, dtype=np.int8)
    cell_faults: CellFaults = []
    for row, cell in enumerate(cells):
        if cell is None:
            continue
        if isinstance(cell, int | float) and cell in (0, 1):
            values[row] = int(cell)
        else:
            cell_faults.append(_not_a("boolean", row, cell, cell_faults))
    return BooleanArray(values), cell_faults


def _timestamps(cells: Sequence[JSON]) -> tuple[TimestampArray, CellFaults]:
    values = np.full(len(cells), np.nan)
    cell_faults: CellFaults = []
    for row, cell in enumerate(cells):
        if cell is None:
            continue
        seconds = seconds_of(cell) if isinstance(cell, str) else None
        if seconds is None:
            cell_faults.append(_not_a("timestamp", row, cell, cell_faults))
        else:
            values[row] = seconds
    return TimestampArray(values), cell_faults


def _texts(cells: Sequence[JSON]) -> tuple[CategoryArray, CellFaults]:
    cell_faults: CellFaults = []
    texts: list[str | None] = []
    for row, cell in enumerate(cells):
        if cell is None or isinstance(cell, str):
            texts.append(cell)
        elif isinstance(cell, int | float):
            texts.append(text_of(cell))
        else:
            texts.append(None)
            cell_faults.append(_not_a("category", row, cell, cell_faults))
    index: dict[str | None, int] = {None: -1}
    for text in dict.fromkeys(texts):
        if text is not None:
            index[text] = len(index) - 1
    unfit = {text: reason for text in index if text is not None and (reason := bad_text(text)) is not None}
    if unfit:
        cell_faults.extend(CellFault(row, unfit[text]) for row, text in enumerate(texts) if text in unfit)
        return _texts([None if text in unfit else text for text in texts])[0], sorted(cell_faults)
    codes = np.fromiter(map(index.__getitem__, texts), np.int32, len(texts))
    return CategoryArray(codes, tuple(text for text in index if text is not None)), cell_faults
