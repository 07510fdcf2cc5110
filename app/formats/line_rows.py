"""Rows to predict for in NDJSON: an object a line."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import islice

import msgspec

from app.errors import MalformedBodyError, TooLargeError
from app.formats.cells import JSON
from app.formats.expected import Expected, ReadRows, need_rows
from app.formats.json_body import decode
from app.formats.json_forms import ByRow, RawTable, has_column
from app.formats.json_scan import MAX_CONTAINERS_OF_A_LINE, check_containers, check_members
from app.formats.json_table import typed_block
from app.formats.number_rows import decoded_rows
from relevance_bayes.tables.columns import NumberBlock
from relevance_bayes.tasks.cancellation import check_cancelled
from relevance_bayes.types.errors import Fault, InvalidDataError, RelevanceError

ROWS_BETWEEN_CHECKS = 1_000


@dataclass(frozen=True)
class Line:
    """A line that is not blank, with its number from 1."""

    number: int
    text: bytes


def lines_of(body: bytes, max_rows: int) -> list[Line]:
    """Return the lines of a body that are not blank, at most one more than `max_rows`."""
    lines = enumerate(BytesIO(body.removeprefix(b"\xef\xbb\xbf")), start=1)
    filled = ((number, line) for number, line in lines if line.strip())
    return [Line(number, line) for number, line in islice(filled, max_rows + 1)]


def read_lines(lines: Sequence[Line], expected: Expected, *, strict: bool) -> ReadRows:
    """Read a row from each line; a line of malformed JSON is a fault, or raises MalformedBodyError if `strict`.

    Raises InvalidDataError where there are no lines, and TooLargeError.
    """
    need_rows(len(lines))
    expected.check_rows(len(lines))
    numbers, places = _numbers(lines, expected), tuple(line.number for line in lines)
    if numbers is not None:
        return ReadRows(numbers, (), places)
    rows: list[JSON] = []
    broken: dict[int, tuple[Fault, ...]] = {}
    for row, line in enumerate(lines):
        if row % ROWS_BETWEEN_CHECKS == 0:
            check_cancelled()
        try:
            check_containers(line.text, MAX_CONTAINERS_OF_A_LINE)
            check_members(line.text, expected.max_members)
            rows.append(decode(line.text.strip()))
        except (MalformedBodyError, InvalidDataError, TooLargeError) as error:
            faults = _faults(error, row, line.number)
            if strict:
                raise type(error)(f"Line {line.number}: {error.detail}", faults) from None
            broken[row] = faults
            rows.append(None)
    raw = RawTable(ByRow(rows), {})
    columns = (
        expected.with_noise if expected.noise is not None and has_column(raw, expected.noise) else expected.columns
    )
    block, cell_faults = typed_block(raw, columns, not_read=expected.not_read)
    reported = [fault for found in broken.values() for fault in found]
    reported += [_placed(fault, lines) for fault in cell_faults if fault.row not in broken]
    return ReadRows(block, tuple(sorted(reported, key=lambda fault: fault.row or 0)), places)


def _numbers(lines: Sequence[Line], expected: Expected) -> NumberBlock | None:
    """Return rows of exactly the expected columns, all numbers; None for any others."""
    if any(kind != "number" for _, kind in expected.columns):
        return None
    names = tuple(name for name, _ in expected.columns)
    try:
        matrix = decoded_rows([line.text for line in lines], names)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return None if matrix is None else NumberBlock(names, matrix)


def _faults(error: RelevanceError, row: int, line: int) -> tuple[Fault, ...]:
    """Return the error's faults, or one at this line if it has none."""
    found = error.faults or (Fault(error.detail),)
    columns = [fault.column or (fault.pointer or "").removeprefix("/") or None for fault in found]
    return tuple(
        Fault(fault.detail, row=row, line=line, column=column) for fault, column in zip(found, columns, strict=True)
    )


def _placed(fault: Fault, lines: Sequence[Line]) -> Fault:
    """Return the fault with a line instead of a pointer."""
    return replace(fault, pointer=None, line=None if fault.row is None else lines[fault.row].number)
