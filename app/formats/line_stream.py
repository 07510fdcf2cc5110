"""NDJSON as a stream of typed blocks: an object a line; all have the columns of the first."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from app.errors import MalformedBodyError, TooLargeError
from app.formats.cell_faults import refuse
from app.formats.cells import JSON, column_of
from app.formats.json_body import decode
from app.formats.json_cells import Cells, cells_of
from app.formats.json_forms import ByRow, RawTable
from app.formats.json_scan import MAX_CONTAINERS_OF_A_LINE, check_containers, check_members
from app.formats.json_table import kinds_in
from app.formats.line_rows import Line
from app.formats.spool import SpoolFile
from app.formats.streams import TableStream, check_names
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
    return TableStream(names, kinds, _blocks(chain((head,), groups), names, kinds, inferred))


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
    refuse([_placed(fault, first, lines) for fault in cells.faults])
    return cells


def _placed(fault: Fault, first: int, lines: Sequence[Line]) -> Fault:
    """Return a fault of a group with its line in the file."""
    row = fault.row or 0
    return replace(fault, pointer=None, row=first + row, line=lines[row].number)


def _blocks(
    groups: Iterator[Group], names: Sequence[str], kinds: Sequence[ColumnKind], inferred: frozenset[str]
) -> Iterator[Block]:
    for group in groups:
        first, lines, _ = group
        block: dict[str, Column] = {}
        faults: list[Fault] = []
        for name, kind, column in zip(names, kinds, _cells(group, names).columns, strict=True):
            block[name], cell_faults = column_of(kind, column, exact=name in inferred)
            faults.extend(_placed(Fault(detail, row=row, column=name), first, lines) for row, detail in cell_faults)
        refuse(sorted(faults, key=lambda fault: fault.row or 0), inferred=inferred)
        yield block
