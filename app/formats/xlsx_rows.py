"""Sheets of workbooks as tables: the first row names the columns."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import BinaryIO

from app.formats.cell_faults import refuse
from app.formats.cells import block_of, column_of
from app.formats.expected import Expected, ReadRows, need_rows
from app.formats.spool import SpoolFile
from app.formats.streams import TableStream, check_names, kinds_of
from app.formats.xlsx_sheet import Row, name_of, sheet_rows
from relevance_bayes.tables.columns import Block, Column, rows_of_a_block
from relevance_bayes.tables.kinds import ROWS_LOOKED_AT, kind_of_cells
from relevance_bayes.types.errors import Fault, InvalidDataError
from relevance_bayes.types.values import Cell, ColumnKind


def open_xlsx(
    file: SpoolFile, sheet: str | None, *, declared: Mapping[str, ColumnKind], max_columns: int
) -> TableStream:
    """Return a sheet as a stream of blocks; types of cells are preserved, as those of JSON.

    Raises MalformedBodyError, InvalidDataError, InvalidRequestError (an unknown sheet, a kind declared for an unknown
    column), TooLargeError.
    """
    names, rows = _table_of(file.reader(), sheet)
    check_names(names, max_columns=max_columns)
    head = [*islice(rows, ROWS_LOOKED_AT)]
    need_rows(len(head))
    columns: Sequence[Sequence[Cell]] = [*zip(*head, strict=True)]
    kinds = kinds_of(names, declared, map(kind_of_cells, columns))
    inferred = frozenset(names) - declared.keys()
    return TableStream(names, kinds, _blocks(chain(head, rows), names, kinds, inferred))


def read_xlsx(body: BinaryIO, sheet: str | None, expected: Expected) -> ReadRows:
    """Read the rows of a sheet; raises as `open_xlsx`, and InvalidDataError for columns other than those expected."""
    names, rows = _table_of(body, sheet)
    columns = expected.among(names)
    read = [*islice(rows, expected.max_rows + 1)]
    need_rows(len(read))
    expected.check_rows(len(read))
    cells = dict(zip(names, zip(*read, strict=True), strict=True))
    block, wrong = block_of(columns, [cells[name] for name, _ in columns])
    return ReadRows(block, tuple(Fault(detail, row=row, column=name) for name, found in wrong for row, detail in found))


def _table_of(file: BinaryIO, sheet: str | None) -> tuple[tuple[str, ...], Iterator[Row]]:
    """Return the names in the first row with a value, and all rows below it, of the same width."""
    rows = sheet_rows(file, sheet)
    header = next((row for row in rows if row), ())
    if not header:
        raise InvalidDataError("The sheet is empty.")
    width = max(position for position, cell in enumerate(header, start=1) if cell is not None)
    names = tuple(name_of(cell, position) for position, cell in enumerate(header[:width], start=1))
    return names, _as_wide(rows, width)


def _as_wide(rows: Iterator[Row], width: int) -> Iterator[Row]:
    for number, row in enumerate(rows):
        if any(cell is not None for cell in row[width:]):
            detail = f"The row has a value to the right of the {width} named columns."
            raise InvalidDataError(f"Row {number}: {detail}", [Fault(detail, row=number)])
        yield row[:width] if len(row) >= width else row + (None,) * (width - len(row))


def _blocks(
    rows: Iterator[Row], names: Sequence[str], kinds: Sequence[ColumnKind], inferred: frozenset[str]
) -> Iterator[Block]:
    step, first = rows_of_a_block(len(names)), 0
    while some := [*islice(rows, step)]:
        block: dict[str, Column] = {}
        faults: list[Fault] = []
        for name, kind, cells in zip(names, kinds, zip(*some, strict=True), strict=True):
            block[name], cell_faults = column_of(kind, cells, exact=name in inferred)
            faults.extend(Fault(detail, row=first + row, column=name) for row, detail in cell_faults)
        refuse(sorted(faults, key=lambda fault: fault.row or 0), inferred=inferred)
        first += len(some)
        yield block
