"""A sheet of a workbook as rows of cells with cached values: formulas and links are not followed."""

import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from itertools import islice
from typing import BinaryIO

from openpyxl import load_workbook

from app.errors import MalformedBodyError, TooLargeError
from app.formats.cell_faults import shown
from app.formats.xlsx_package import MAX_CELLS_LISTED, check_package
from relevance_bayes.records.errors import Fault, InvalidDataError, InvalidRequestError
from relevance_bayes.records.values import Cell, text_of
from relevance_bayes.tasks.cancellation import check_cancelled

MAX_ROWS = 2**20
MAX_PLACES = 2**23
"""The maximum number of cells, present or omitted between present ones."""

ROWS_AT_ONCE = 1_000

ERRORS = frozenset(
    {"#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "#SPILL!", "#CALC!", "#FIELD!", "#GETTING_DATA"}
)
"""Errors of formulas other than #N/A, which is a missing value."""

Row = tuple[Cell, ...]


def sheet_rows(file: BinaryIO, sheet: str | None) -> Iterator[Row]:
    """Yield the rows of a sheet, by default of the first visible one, each up to its last cell with a value.

    Texts are without surrounding blanks, dates and times in ISO 8601. Raises MalformedBodyError, InvalidDataError,
    InvalidRequestError for an unknown sheet, TooLargeError.
    """
    with _readable():
        with zipfile.ZipFile(file) as archive:
            uncomputed = check_package(archive)
        book = load_workbook(file, read_only=True, data_only=True, keep_links=False)
        sheets = {one.title: one for one in book.worksheets}
    if sheet is not None and sheet not in sheets:
        detail = f"Expected one of the sheets {', '.join(map(shown, islice(sheets, 20)))}; got {shown(sheet)}."
        raise InvalidRequestError(detail, [Fault(detail, parameter="sheet")])
    if not sheets:
        raise InvalidDataError("The workbook has no sheets.")
    visible = [one for one in sheets.values() if one.sheet_state == "visible"]
    chosen = next(iter(visible or sheets.values())) if sheet is None else sheets[sheet]
    refuse_uncomputed(uncomputed.get(str(vars(chosen)["_worksheet_path"]).lstrip("/"), ()))
    chosen.reset_dimensions()  # the dimensions in the file may be wrong
    return _filled(chosen.iter_rows(values_only=True))


def refuse_uncomputed(cells: Sequence[str]) -> None:
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
