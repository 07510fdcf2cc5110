"""Rows of JSON, one a line: to predict, and as a stream of blocks; rows of numbers only are decoded directly."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from io import BytesIO
from itertools import chain, islice

import msgspec
import numpy as np

from app.errors import MalformedBodyError, TooLargeError
from app.formats.cells import JSON, CellFaults, Expected, ReadRows, column_of, need_rows, refuse
from app.formats.json_body import MAX_CONTAINERS_OF_A_LINE, check_containers, check_members, decode
from app.formats.json_table import (
    ByRow,
    JsonColumns,
    RawTable,
    cells_of,
    empty_in,
    has_column,
    kinds_in,
    scalars,
    typed_block,
)
from app.formats.spool import SpoolFile
from app.formats.streams import EmptyColumns, ReadAgainError, TableStream, check_names, refuse_or_revise
from relevance_bayes.core.types import Array
from relevance_bayes.records.errors import Fault, InvalidDataError, RelevanceError
from relevance_bayes.records.values import ColumnKind
from relevance_bayes.tables.columns import Block, Column, NumberBlock, rows_of_a_block
from relevance_bayes.tables.kinds import ROWS_LOOKED_AT
from relevance_bayes.tasks.cancellation import check_cancelled

MAX_COLUMNS = 64
"""The maximum number of columns: in a wider row, the search for a name out of order takes too long."""

PIECE_BYTES = 65_536
"""The size of the chunks in which a long body is decoded; the decoder holds the GIL only for one chunk."""

_BEGINNING = re.compile(rb'"rows"\s*:\s*\[\s*\Z')
_BETWEEN = re.compile(rb"\}\s*,\s*\{")
_MAX_BEGINNING_LENGTH = 100


class _Body(msgspec.Struct, forbid_unknown_fields=True):
    """The members besides the rows, None where they are absent."""

    rows: list[msgspec.Struct]
    interval: float | None = None
    outputs: tuple[str, ...] | None = None
    row_ids: list[str] | None = None

    @property
    def texts(self) -> int:
        """Return the number of keys and strings outside of the rows."""
        listed = (one for one in (self.outputs, self.row_ids) if one is not None)
        return 1 + (self.interval is not None) + sum(1 + len(one) for one in listed)


@dataclass(frozen=True, eq=False)
class NumberRows:
    """A table of numbers, and the options of the prediction, and the ids of rows: None where they are absent."""

    block: NumberBlock
    interval: float | None
    outputs: tuple[str, ...] | None
    row_ids: list[str] | None


def read_number_rows(
    body: bytes, names: tuple[str, ...], *, yield_gil: Callable[[], None] = lambda: None
) -> NumberRows | None:
    """Return rows (at least one) with exactly the columns `names`, all numbers; None for any other body.

    Decoders drop repeated keys silently. As in `json_body.decode` they are found by counting: each string and key has
    two quotation marks.
    """
    if b"\\" in body or (reader := _reader(names)) is None:
        return None
    try:
        return reader.whole(body) if len(body) <= PIECE_BYTES else reader.in_pieces(body, yield_gil)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _decoded_rows(texts: Sequence[bytes], names: tuple[str, ...]) -> Array | None:
    """Return the matrix (N, k) of N rows, each a JSON text with exactly the columns `names` (k), all numbers.

    Returns None, or raises msgspec's error, for any others.
    """
    if (reader := _reader(names)) is None or any(b"\\" in text for text in texts):
        return None
    if sum(text.count(b'"') for text in texts) != 2 * len(texts) * len(names):
        return None
    return reader.values([*map(reader.row.decode, texts)])


@dataclass(frozen=True, eq=False)
class _Reader:
    """Decoders of bodies, of lists of rows, and of rows, with the columns `names` (k)."""

    names: tuple[str, ...]
    body: "msgspec.json.Decoder[_Body]"
    rows: "msgspec.json.Decoder[list[msgspec.Struct]]"
    row: "msgspec.json.Decoder[msgspec.Struct]"

    def whole(self, body: bytes) -> NumberRows | None:
        found = self.body.decode(body)
        if not found.rows or body.count(b'"') != 2 * (found.texts + len(found.rows) * len(self.names)):
            return None
        return self._read(found, self.values(found.rows))

    def in_pieces(self, body: bytes, yield_gil: Callable[[], None]) -> NumberRows | None:
        """Return the same, decoded in chunks; no name may have a brace, so that only rows and the body have them."""
        first, last = body.find(b"{", body.find(b"{") + 1), body.rfind(b"}", 0, body.rfind(b"}")) + 1
        if not 0 < first < last or not _BEGINNING.search(body, max(0, first - _MAX_BEGINNING_LENGTH), first):
            return None
        without = body[:first] + body[last:]
        found = self.body.decode(without)
        if found.rows or without.count(b'"') != 2 * found.texts:
            return None
        parts: list[Array] = []
        for piece in _pieces(body, first, last):
            rows = self.rows.decode(b"[%b]" % piece)
            if piece.count(b'"') != 2 * len(rows) * len(self.names):
                return None
            parts.append(self.values(rows))
            yield_gil()
        return self._read(found, np.concatenate(parts))

    def values(self, rows: list[msgspec.Struct]) -> Array:
        """Return the matrix of rows."""
        cells = chain.from_iterable(map(msgspec.structs.astuple, rows))
        return np.fromiter(cells, np.float64, len(rows) * len(self.names)).reshape(-1, len(self.names))

    def _read(self, found: _Body, values: Array) -> NumberRows:
        return NumberRows(NumberBlock(self.names, values), found.interval, found.outputs, found.row_ids)


def _pieces(body: bytes, first: int, last: int) -> Iterator[bytes]:
    """Yield the rows between two positions, some at a time, without the commas between them."""
    while cut := _BETWEEN.search(body, first + PIECE_BYTES, last):
        yield body[first : cut.start() + 1]
        first = cut.end() - 1
    yield body[first:last]


@lru_cache(maxsize=256)
def _reader(names: tuple[str, ...]) -> _Reader | None:
    if not 0 < len(names) <= MAX_COLUMNS or any("{" in name or "}" in name for name in names):
        return None
    # A row is a struct whose members have the columns' names only in JSON, since names need not be identifiers.
    members = [(f"column_{place}", float, msgspec.field(name=name)) for place, name in enumerate(names)]
    row = msgspec.defstruct("Row", members, forbid_unknown_fields=True, gc=False)
    rows = list[row]  # type: ignore[valid-type]
    body = msgspec.defstruct("Body", [("rows", rows)], bases=(_Body,), forbid_unknown_fields=True)
    assert issubclass(body, _Body)
    return _Reader(names, msgspec.json.Decoder(body), msgspec.json.Decoder(rows), msgspec.json.Decoder(row))


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
        matrix = _decoded_rows([line.text for line in lines], names)
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


Group = tuple[int, Sequence[Line], Sequence[JSON]]
"""The number of the first row, the lines, and their values."""


def open_lines(file: SpoolFile, *, declared: Mapping[str, ColumnKind], max_columns: int, max_bytes: int) -> TableStream:
    """Return lines of JSON, of at most `max_bytes` each, as a stream of blocks; kinds not declared are inferred.

    Raises MalformedBodyError, InvalidDataError, InvalidRequestError (a kind declared for an unknown column) and
    TooLargeError.
    """
    lines = _lines(file, max_bytes)
    head = _group(lines, max_columns, 0, ROWS_LOOKED_AT)
    if head is None:
        raise InvalidDataError("The table has no rows.")
    _, (first, *_), (row, *_) = head
    if not isinstance(row, dict):
        detail = "The row is not an object."
        raise InvalidDataError(f"Line {first.number}: {detail}", [Fault(detail, row=0, line=first.number)])
    names = tuple(row)
    check_names(names, max_columns=max_columns, line=first.number)
    cells = _cells(head, names)
    kinds = kinds_in(cells, declared)
    inferred = frozenset(names) - declared.keys()
    groups = _groups(lines, max_columns, len(head[1]), rows_of_a_block(len(names)))
    empty = empty_in(cells, declared)
    return TableStream(names, kinds, _blocks(chain((head,), groups), names, kinds, inferred, empty))


def _lines(file: SpoolFile, max_bytes: int) -> Iterator[Line]:
    reader = file.reader()
    number = 0
    while text := reader.readline(max_bytes + 1):
        number += 1
        if len(text) > max_bytes:
            raise TooLargeError(f"Line {number}: expected at most {max_bytes:,} bytes, got more.")
        if number == 1:
            text = text.removeprefix(b"\xef\xbb\xbf")
        if text.strip():
            yield Line(number, text.strip())


def _groups(lines: Iterator[Line], max_columns: int, first: int, step: int) -> Iterator[Group]:
    while (group := _group(lines, max_columns, first, step)) is not None:
        yield group
        first += len(group[1])


def _group(lines: Iterator[Line], max_columns: int, first: int, maximum: int) -> Group | None:
    """Return the next rows, at most so many; None at the end."""
    some: list[Line] = []
    rows: list[JSON] = []
    for line in lines:
        try:
            check_containers(line.text, MAX_CONTAINERS_OF_A_LINE)
            check_members(line.text, max_columns)
            rows.append(decode(line.text))
        except (MalformedBodyError, InvalidDataError, TooLargeError) as error:
            row = first + len(some)
            faults = [replace(fault, pointer=None, row=row, line=line.number) for fault in error.faults]
            raise type(error)(f"Line {line.number}: {error.detail}", faults) from None
        some.append(line)
        if len(some) == maximum:
            break
    return (first, some, rows) if some else None


def _cells(group: Group, names: Sequence[str]) -> JsonColumns:
    """Return the cells of a group by column; raises InvalidDataError for rows with other columns."""
    first, lines, rows = group
    cells = cells_of(RawTable(ByRow([*rows]), {}), names=names)
    moved = [replace(fault, pointer=None, row=first + (fault.row or 0)) for fault in cells.faults]
    refuse(_with_lines(moved, first=first, lines=lines))
    return cells


def _with_lines(faults: Sequence[Fault], *, first: int, lines: Sequence[Line]) -> Sequence[Fault]:
    """Return faults of a group with their lines in the file."""
    return [replace(fault, line=lines[(fault.row or 0) - first].number) for fault in faults]


def _blocks(
    groups: Iterator[Group],
    names: Sequence[str],
    kinds: Sequence[ColumnKind],
    inferred: frozenset[str],
    empty: EmptyColumns,
) -> Iterator[Block]:
    for group in groups:
        first, lines, _ = group
        columns = _cells(group, names).columns
        if again := empty.kinds_in(zip(names, (partial(scalars, column) for column in columns), strict=True)):
            for later in groups:
                cells = (partial(scalars, column) for column in _cells(later, names).columns)
                again |= empty.kinds_in(zip(names, cells, strict=True))
            raise ReadAgainError(again)
        block: dict[str, Column] = {}
        wrong: dict[str, CellFaults] = {}
        for name, kind, column in zip(names, kinds, columns, strict=True):
            block[name], wrong[name] = column_of(kind, column, exact=name in inferred)
        placed = partial(_with_lines, first=first, lines=lines)
        refuse_or_revise(wrong, inferred, first, placed)
        yield block
