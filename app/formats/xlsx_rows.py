"""Sheets of workbooks as tables: the first row names the columns."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from typing import BinaryIO

import pyarrow as pa

from app.formats.cell_faults import CellFault, CellFaults, faults_of, refuse
from app.formats.cells import column_of
from app.formats.csv_columns import (
    CodeColumns,
    ReadColumn,
    TextColumn,
    column_of_texts,
    find_readings,
    later_reading,
    numbers_of_texts,
    readings_of,
    row_readings,
)
from app.formats.expected import Expected, ReadRows, need_rows
from app.formats.names import checked_names, stored_names
from app.formats.options import ReadOptions
from app.formats.spool import SpoolFile
from app.formats.streams import ReadAgainError, TableStream, kinds_of, refuse_or_revise, with_places
from app.formats.xlsx_sheet import ERRORS, Row, name_of, sheet_rows
from relevance_bayes.records.errors import Fault, InvalidDataError
from relevance_bayes.records.values import Cell, ColumnKind, text_of
from relevance_bayes.tables.columns import Block, CategoryColumn, Column, rows_of_a_block
from relevance_bayes.tables.kinds import ROWS_LOOKED_AT, kind_of_cells

BETWEEN = ","
"""The delimiter of the CSV whose reading of numbers and dates the texts of cells have."""


def open_xlsx(
    file: SpoolFile, options: ReadOptions, *, declared: Mapping[str, ColumnKind], max_columns: int
) -> TableStream:
    """Return a sheet as a stream of blocks; numbers, booleans and dates are read, texts as those of a CSV.

    Raises MalformedBodyError, InvalidDataError, InvalidRequestError (an unknown sheet, a kind declared for an unknown
    column), TooLargeError.
    """
    sheet = _table_of(file.reader(), options)
    names, given_names = checked_names(sheet.names, max_columns=max_columns)
    rows = iter(sheet)
    head = [*islice(rows, ROWS_LOOKED_AT)]
    need_rows(len(head))
    cells: Sequence[Sequence[Cell]] = [*zip(*head, strict=True)]
    typed = {
        name: kind_of_cells(column)
        for name, column in zip(names, cells, strict=True)
        if not any(isinstance(cell, str) for cell in column)
        and any(cell is not None for cell in column)
        and not all(type(cell) is int for cell in column)  # beside texts they may be codes
    }
    kinds_of(names, declared, (declared.get(name, "number") for name in names))
    table = pa.table({name: _texts(column) for name, column in zip(names, cells, strict=True)})
    options = replace(options, has_errors=True, revised={**typed, **options.revised})
    with with_places(sheet.placed):
        columns = find_readings(table, BETWEEN, options, declared=declared)
    reread = partial(later_reading, delimiter=BETWEEN, options=options, declared=declared)
    blocks = _Blocks(sheet, columns, frozenset(names) - declared.keys(), reread)
    readings = readings_of(blocks.columns, blocks.missing_texts, given_names, has_header=True)
    kinds = tuple(column.kind for column in columns)
    return TableStream(names, kinds, blocks.read(chain(head, rows)), readings=readings)


def read_xlsx(body: BinaryIO, options: ReadOptions, expected: Expected) -> ReadRows:
    """Read the rows of a sheet; raises as `open_xlsx`, and InvalidDataError for columns other than those expected."""
    sheet = _table_of(body, options)
    names, _ = stored_names(sheet.names)
    columns = expected.among(names)
    read = [*islice(iter(sheet), expected.max_rows + 1)]
    need_rows(len(read))
    expected.check_rows(len(read))
    cells = dict(zip(names, zip(*read, strict=True), strict=True))
    table = pa.table({name: _texts(cells[name]) for name, _ in columns})
    readings = row_readings(
        table, columns, BETWEEN, replace(options, has_errors=True), forms=expected.forms, is_plain=False
    )
    block: dict[str, Column] = {}
    wrong: dict[str, CellFaults] = {}
    for name, _ in columns:
        one = _column(readings[name], cells[name], exact=False)
        block[name], wrong[name] = one.column, one.cell_faults
    return ReadRows(block, tuple(sheet.placed(faults_of(wrong))))


def _texts(cells: Sequence[Cell]) -> pa.StringArray:
    texts: pa.StringArray = pa.array([None if cell is None else text_of(cell) for cell in cells], pa.string())
    return texts


def _column(reading: TextColumn, cells: Sequence[Cell], *, exact: bool) -> ReadColumn:
    """Return cells as a column: texts as those of a CSV, other values by their types."""
    if not reading.numbers.markers.listed and not any(isinstance(cell, str) for cell in cells):
        return ReadColumn(*column_of(reading.kind, cells, exact=exact))
    if reading.kind == "number":
        return numbers_of_texts([_texts(cells)], [reading.numbers])[0]
    read = column_of_texts(reading.kind, _texts(cells), reading.dates, reading.numbers.markers)
    if isinstance(read.column, CategoryColumn) and not ERRORS.isdisjoint(read.column.labels):
        wrong = [CellFault(row, f"The cell has the error {cell}.") for row, cell in enumerate(cells) if cell in ERRORS]
        return ReadColumn(read.column, [*read.cell_faults, *wrong], read.missing_texts)
    return read


@dataclass(frozen=True)
class _Sheet:
    """The rows of a sheet below the header, all of the same width; the header, `names`, is in row `header` (from 1)."""

    rows: Iterator[Row]
    names: tuple[str, ...]
    header: int

    def __iter__(self) -> Iterator[Row]:
        width = len(self.names)
        for number, row in enumerate(self.rows):
            if any(cell is not None for cell in row[width:]):
                detail = (
                    f"The row has a value to the right of the {width} columns that row {self.header} of the sheet "
                    "names; where that is a title, set skip_rows to the number of rows above the names."
                )
                refuse(self.placed([Fault(detail, row=number)]))
            yield row[:width] if len(row) >= width else row + (None,) * (width - len(row))

    def placed(self, faults: Sequence[Fault]) -> Sequence[Fault]:
        """Return faults of rows with their rows of the sheet."""
        return [replace(fault, sheet_row=self.header + 1 + (fault.row or 0)) for fault in faults]


def _table_of(file: BinaryIO, options: ReadOptions) -> _Sheet:
    """Return the names in the first row with a value, and all rows below it."""
    skipped = options.skip_rows or 0
    rows = islice(sheet_rows(file, options.sheet), skipped, None)
    number, header = next(((number, row) for number, row in enumerate(rows, skipped + 1) if row), (0, ()))
    if not header:
        raise InvalidDataError("The sheet is empty.")
    width = max(position for position, cell in enumerate(header, start=1) if cell is not None)
    names = tuple(name_of(cell, position) for position, cell in enumerate(header[:width], start=1))
    return _Sheet(rows, names, number)


class _Blocks:
    """The blocks of a sheet, and the texts that it has for missing values, by column."""

    def __init__(
        self,
        sheet: _Sheet,
        columns: Sequence[TextColumn],
        inferred: frozenset[str],
        reread: Callable[[TextColumn, pa.StringArray], TextColumn],
    ) -> None:
        self._sheet = sheet
        self.columns = [*columns]
        self._reread = reread
        self._codes = CodeColumns(columns)
        self._inferred = inferred
        self.missing_texts: dict[str, dict[str, int]] = {column.name: {} for column in columns}

    def read(self, rows: Iterator[Row]) -> Iterator[Block]:
        """Yield the rows as blocks."""
        step, first = rows_of_a_block(len(self.columns)), 0
        while some := [*islice(rows, step)]:
            block: dict[str, Column] = {}
            wrong: dict[str, CellFaults] = {}
            columns: Sequence[Sequence[Cell]] = [*zip(*some, strict=True)]
            self._fill(columns)
            by_name = zip((reading.name for reading in self.columns), columns, strict=True)
            self._codes.check({name: _texts(cells) for name, cells in by_name if name in self._codes})
            for reading, cells in zip(self.columns, columns, strict=True):
                name = reading.name
                one = _column(reading, cells, exact=name in self._inferred)
                block[name], wrong[name] = one.column, one.cell_faults
                for text, count in one.missing_texts.items():
                    self.missing_texts[name][text] = self.missing_texts[name].get(text, 0) + count
            refuse_or_revise(wrong, self._inferred, first, self._sheet.placed)
            first += len(some)
            yield block

    def _fill(self, cells: Sequence[Sequence[Cell]]) -> None:
        """Find the readings of columns whose cells were empty so far; raises ReadAgainError for another kind."""
        again: dict[str, ColumnKind] = {}
        for place, column in enumerate(self.columns):
            if column.is_empty and any(cell is not None for cell in cells[place]):
                self.columns[place] = found = self._reread(column, _texts(cells[place]))
                self._codes.add(found)
                if found.kind != column.kind:
                    again[column.name] = found.kind
        if again:
            raise ReadAgainError(again)
