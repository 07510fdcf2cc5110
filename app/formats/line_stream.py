"""NDJSON as a stream of typed blocks: an object a line; all have the columns of the first."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from app.errors import MalformedBodyError, TooLargeError
from app.formats.cell_faults import CellFaults, refuse
from app.formats.cells import JSON, column_of
from app.formats.json_body import decode
from app.formats.json_cells import Cells, cells_of
from app.formats.json_forms import ByRow, RawTable
from app.formats.json_scan import MAX_CONTAINERS_OF_A_LINE, check_containers, check_members
from app.formats.json_table import empty_in, kinds_in, scalars
from app.formats.line_rows import Line
from app.formats.spool import SpoolFile
from app.formats.streams import EmptyColumns, ReadAgainError, TableStream, check_names, refuse_or_revise
from relevance_bayes.tables.columns import Block, Column, rows_of_a_block
from relevance_bayes.tables.kinds import ROWS_LOOKED_AT
from relevance_bayes.types.errors import Fault, InvalidDataError
from relevance_bayes.types.values import ColumnKind

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


def _cells(group: Group, names: Sequence[str]) -> Cells:
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
