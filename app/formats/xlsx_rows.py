"""Workbooks as tables: a sheet's rows of cells with cached values, after checks of the zip of XML that it is."""

import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import partial
from itertools import chain, islice
from typing import IO, BinaryIO
from xml.parsers import expat

import pyarrow as pa
from openpyxl import load_workbook

from app.errors import MalformedBodyError, TooLargeError
from app.formats.cells import CellFault, CellFaults, Expected, ReadRows, column_of, faults_of, need_rows, refuse, shown
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
from app.formats.format import ReadOptions
from app.formats.spool import SpoolFile
from app.formats.streams import (
    ReadAgainError,
    TableStream,
    checked_names,
    kinds_of,
    refuse_or_revise,
    stored_names,
    with_places,
)
from relevance_bayes.records.errors import Fault, InvalidDataError, InvalidRequestError
from relevance_bayes.records.values import Cell, ColumnKind, text_of
from relevance_bayes.tables.columns import Block, CategoryArray, Column, rows_of_a_block
from relevance_bayes.tables.kinds import ROWS_LOOKED_AT, kind_of_cells
from relevance_bayes.tasks.cancellation import check_cancelled

MAX_PARTS = 10_000
MAX_BYTES = 2**27
"""The maximum decompressed size of all parts."""

MAX_ELEMENTS = 3_000_000
"""The maximum number of elements of all parts; a cell with a value has two of them."""

MAX_ELEMENTS_TOGETHER = 100_000
"""The maximum number of elements of a row, which has at most 16,384 cells, and of a part other than a sheet: these
become objects all at once."""

MAX_ATTRIBUTE_BYTES_TOGETHER = 2**25
"""The maximum size of the attributes of a row, and of a part other than a sheet, BYTES_OF_AN_ATTRIBUTE for each."""

BYTES_OF_AN_ATTRIBUTE = 50
"""The memory that an attribute takes beside its characters."""

MAX_TOKEN_BYTES = 2**18
"""The maximum size of a tag, a comment or an instruction. A parser begins one anew with each piece of a file, so that a
tag of 100 MB, which 100 kB hold compressed, takes a minute."""

MAX_CELLS_LISTED = 10
"""The number of cells of a part with formulas that were never computed that are listed."""

_PIECE = 2**16
_RESETS = frozenset({"row", "si"})
"""Elements of sheets and of shared strings that are parsed one at a time."""

_WHOLE = frozenset({"[Content_Types].xml", "xl/styles.xml", "docProps/core.xml", "docProps/custom.xml"})
_PACKINGS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})


def _check_package(archive: zipfile.ZipFile) -> Mapping[str, tuple[str, ...]]:
    """Return the cells whose formulas were never computed, by part.

    Raises TooLargeError, MalformedBodyError or InvalidDataError for a file that is not to be parsed.
    Refused are parts that decompress to more than `MAX_BYTES` together or have too many elements, long tags or too many
    attributes; document types, which declare entities; and chart sheets. Raises zipfile.BadZipFile, zlib.error and
    EOFError for a corrupt file.
    """
    parts = archive.infolist()
    if len(parts) > MAX_PARTS:
        raise TooLargeError(f"Expected a workbook of at most {MAX_PARTS:,} parts, got {len(parts):,}.")
    if sum(part.file_size for part in parts) > MAX_BYTES:  # zipfile reads no more than these sizes
        raise TooLargeError(f"Expected at most {MAX_BYTES:,} bytes once decompressed, got more; save it as CSV.")
    if any(part.flag_bits & 1 for part in parts):
        raise InvalidDataError("The workbook is encrypted.")
    if any(part.compress_type not in _PACKINGS for part in parts):
        raise MalformedBodyError("Expected a workbook compressed with deflate, got another method.")
    scan = _Scan()
    for part in parts:
        with archive.open(part) as opened:
            scan.part(part.filename, opened)
    scan.check_workbook()
    return {name: tuple(cells) for name, cells in scan.uncomputed.items()}


class _Scan:
    """A counter of elements."""

    def __init__(self) -> None:
        self._total = 0
        self._counts: dict[str, int] = {}
        self._attributes: dict[str, int] = {}
        self._workbooks: set[str] = set()
        self._before = self._since = 0
        self._attribute_bytes = self._attribute_bytes_of_part = 0
        self._parser = expat.ParserCreate()
        self._name = ""
        self._row = 0
        self._cell = ("", "")
        self._lacks_value = False
        self.uncomputed: dict[str, list[str]] = {}

    def part(self, name: str, opened: IO[bytes]) -> None:
        """Count the elements of a part as far as it is XML; openpyxl does not parse other parts as XML either."""
        self._parser = parser = expat.ParserCreate()
        self._name, self._row, self._lacks_value = name, 0, False
        parser.StartDoctypeDeclHandler = _refuse_doctype
        parser.StartElementHandler = self._start
        self._before = self._since = self._total
        self._attribute_bytes = self._attribute_bytes_of_part = fed = 0
        try:
            while piece := opened.read(_PIECE):
                check_cancelled()
                parser.Parse(piece)
                fed += len(piece)
                if fed - parser.CurrentByteIndex > MAX_TOKEN_BYTES:  # it has begun a token and not seen its end
                    raise TooLargeError(f"{name}: expected tags and comments of at most {MAX_TOKEN_BYTES:,} bytes.")
        except expat.ExpatError:
            pass
        self._end_cell()
        self._counts[name] = self._total - self._before
        self._attributes[name] = self._attribute_bytes_of_part
        if name in _WHOLE or name.endswith(".rels"):
            self._check_whole(name)

    def check_workbook(self) -> None:
        """Raise TooLargeError where a part that lists the sheets has too many elements."""
        for name in self._workbooks & self._counts.keys():
            self._check_whole(name)

    def _check_whole(self, name: str) -> None:
        count, maximum = self._counts[name], MAX_ELEMENTS_TOGETHER
        if count > maximum:
            raise TooLargeError(f"{name}: expected at most {maximum:,} elements, got {count:,}.")
        if self._attributes[name] > MAX_ATTRIBUTE_BYTES_TOGETHER:
            raise TooLargeError(f"{name}: expected fewer or shorter attributes.")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._total += 1
        size = sum(BYTES_OF_AN_ATTRIBUTE + len(value) for value in attributes.values())
        self._attribute_bytes += size
        self._attribute_bytes_of_part += size
        local = name.rpartition(":")[2]
        if local == "c":
            self._end_cell()
            self._cell = attributes.get("r", f"a cell of row {self._row}"), attributes.get("t", "")
        elif local == "f":
            # A formula whose result is an empty text has the type str.
            self._lacks_value = self._cell[1] != "str"
        elif local == "v" and self._lacks_value:
            self._parser.CharacterDataHandler = self._has_value
        if local in _RESETS:
            self._end_cell()
            self._row += 1
            self._since, self._attribute_bytes = self._total, 0
        elif self._attribute_bytes > MAX_ATTRIBUTE_BYTES_TOGETHER:
            raise TooLargeError(f"{self._name}: expected rows with fewer or shorter attributes.")
        elif self._total - self._since > MAX_ELEMENTS_TOGETHER:
            raise TooLargeError(f"Expected rows of at most {MAX_ELEMENTS_TOGETHER:,} elements, got more.")
        elif local == "Override" and "main+xml" in attributes.get("ContentType", ""):
            self._workbooks.add(attributes.get("PartName", "").lstrip("/"))
        elif local == "Relationship" and "chartsheet" in attributes.get("Type", ""):
            raise InvalidDataError("The workbook has a chart sheet: save only the sheet with the table.")
        if self._total > MAX_ELEMENTS:
            raise TooLargeError(f"Expected at most {MAX_ELEMENTS:,} elements, got more; save it as CSV.")

    def _has_value(self, text: str) -> None:
        """Take the text of a formula's value, which is computed unless it is empty."""
        if text.strip():
            self._lacks_value = False
            self._parser.CharacterDataHandler = None

    def _end_cell(self) -> None:
        """List the last cell if it has a formula and no value."""
        if self._lacks_value:
            self._lacks_value = False
            self._parser.CharacterDataHandler = None
            if len(listed := self.uncomputed.setdefault(self._name, [])) <= MAX_CELLS_LISTED:
                listed.append(self._cell[0])


def _refuse_doctype(*_: object) -> None:
    raise MalformedBodyError("A part of the workbook declares a document type, which is not allowed.")


MAX_ROWS = 2**20
MAX_PLACES = 2**23
"""The maximum number of cells, present or omitted between present ones."""

ROWS_AT_ONCE = 1_000

ERRORS = frozenset(
    {"#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "#SPILL!", "#CALC!", "#FIELD!", "#GETTING_DATA"}
)
"""Errors of formulas other than #N/A, which is a missing value."""

Row = tuple[Cell, ...]


def _sheet_rows(file: BinaryIO, sheet: str | None) -> Iterator[Row]:
    """Yield the rows of a sheet, by default of the first visible one, each up to its last cell with a value.

    Texts are without surrounding blanks, dates and times in ISO 8601. Raises MalformedBodyError, InvalidDataError,
    InvalidRequestError for an unknown sheet, TooLargeError.
    """
    with _readable():
        with zipfile.ZipFile(file) as archive:
            uncomputed = _check_package(archive)
        book = load_workbook(file, read_only=True, data_only=True, keep_links=False)
        sheets = {one.title: one for one in book.worksheets}
    if sheet is not None and sheet not in sheets:
        detail = f"Expected one of the sheets {', '.join(map(shown, islice(sheets, 20)))}; got {shown(sheet)}."
        raise InvalidRequestError(detail, [Fault(detail, parameter="sheet")])
    if not sheets:
        raise InvalidDataError("The workbook has no sheets.")
    visible = [one for one in sheets.values() if one.sheet_state == "visible"]
    chosen = next(iter(visible or sheets.values())) if sheet is None else sheets[sheet]
    _refuse_uncomputed(uncomputed.get(str(vars(chosen)["_worksheet_path"]).lstrip("/"), ()))
    chosen.reset_dimensions()  # the dimensions in the file may be wrong
    return _filled(chosen.iter_rows(values_only=True))


def _refuse_uncomputed(cells: Sequence[str]) -> None:
    """Raise InvalidDataError for cells of formulas without a computed value."""
    if cells:
        listed = ", ".join(cells[:MAX_CELLS_LISTED]) + (", ..." if len(cells) > MAX_CELLS_LISTED else "")
        detail = (
            f"The formulas of {listed} were never computed: open the workbook in a spreadsheet and save it, or write "
            "values in their place."
        )
        raise InvalidDataError(detail, [Fault(detail)])


def _filled(rows: Iterator[tuple[object, ...]]) -> Iterator[Row]:
    """Yield the rows up to the last with a value."""
    empty, seen, places = 0, 0, 0
    while True:
        with _readable():
            some = [*islice(rows, ROWS_AT_ONCE)]
        if not some:
            return
        check_cancelled()
        seen, places = seen + len(some), places + sum(map(len, some))
        if seen > MAX_ROWS or places > MAX_PLACES:
            raise TooLargeError(f"Expected at most {MAX_ROWS:,} rows, {MAX_PLACES:,} cells; save it as CSV.")
        for values in some:
            row = tuple(map(_cell, values))
            if not any(cell is not None for cell in row):
                empty += 1
                continue
            yield from iter(((),) * empty)
            empty = 0
            yield row


def _cell(value: object) -> Cell:
    match value:
        case None | bool() | int() | float():
            return value
        case datetime():
            moment = value.isoformat()
            return moment.removesuffix("T00:00:00")
        case date() | time():
            return value.isoformat()
        case timedelta():
            minutes, seconds = divmod(round(value.total_seconds()), 60)
            return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
        case _:
            return str(value).strip() or None


def name_of(cell: Cell, position: int) -> str:
    """Return the name of a column, by its first cell and its position from 1."""
    return f"column_{position}" if cell is None else text_of(cell)


@contextmanager
def _readable() -> Iterator[None]:
    """Raise MalformedBodyError for exceptions of a file that is not a workbook, or a corrupt one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about content that it would not write
            yield
    except zipfile.BadZipFile as error:
        raise MalformedBodyError("The file can't be read as xlsx; is it truncated, or an older .xls?") from error
    except (zlib.error, OSError, EOFError, SyntaxError, ValueError, TypeError, LookupError) as error:
        raise MalformedBodyError("The file can't be read as xlsx: a part of it is corrupt.") from error
    except (AttributeError, ArithmeticError, AssertionError, RuntimeError) as error:
        raise MalformedBodyError("The file can't be read as xlsx: a part of it is invalid.") from error


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
    if isinstance(read.column, CategoryArray) and not ERRORS.isdisjoint(read.column.labels):
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
    rows = islice(_sheet_rows(file, options.sheet), skipped, None)
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
