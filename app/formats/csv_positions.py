"""Positions of errors in a CSV file, found by a second, slower parse of an invalid file."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from app.errors import MalformedBodyError
from app.formats.cell_faults import MAX_FAULTS_REPORTED, shown
from app.formats.csv_dialect import QUOTED, Dialect, Quoting, not_utf8
from app.formats.spool import BodyFile
from relevance_bayes.types.errors import Fault, RelevanceError

PIECE = 2**20
MAX_BLANKS = 64
"""The maximum number of blanks before a quotation mark that is found across pieces."""

ESCAPE = b'\\"'
_AFTER_BLANKS = re.compile(r' +"')


class BrokenRecord(Exception):
    """Raised for a record that can't be parsed, with the line on which it begins."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.unclosed = "unexpected end" in reason


def _records(file: BodyFile, dialect: Dialect, *, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Yield the records that are not blank, each with the line on which it begins; raises BrokenRecord.

    A blank line of one column is a record. Unless `strict`, text may follow a closing quotation mark, as in Arrow.
    """
    text = io.TextIOWrapper(file.reader(dialect.start), encoding="utf-8", newline="")
    reader = csv.reader(text, strict=strict, **dialect.quoting.reader_options(dialect.delimiter))
    line = dialect.line
    has_one = len(dialect.names) == 1
    try:
        for cells in reader:
            if cells or has_one:
                yield line, cells or [""]
            line = dialect.line + reader.line_num
    except csv.Error as error:
        raise BrokenRecord(line, str(error)) from None


def lines_of(file: BodyFile, dialect: Dialect, rows: Sequence[int]) -> list[int]:
    """Return the lines (from 1) on which rows (from 0, ascending) begin."""
    required = iter(rows)
    row = next(required, None)
    lines: list[int] = []
    try:
        for number, (line, _) in enumerate(_records(file, dialect)):
            if number == row:
                lines.append(line)
                row = next(required, None)
                if row is None:
                    break
    except BrokenRecord as broken:  # a cell longer than the csv module's maximum
        lines += [broken.line] * (len(rows) - len(lines))
    return lines


def with_lines(file: BodyFile, dialect: Dialect, faults: Sequence[Fault]) -> Sequence[Fault]:
    """Return faults of rows with their lines."""
    rows = sorted({fault.row for fault in faults if fault.row is not None})
    lines = dict(zip(rows, lines_of(file, dialect, rows), strict=False)) if rows else {}
    return [fault if fault.row is None else replace(fault, line=lines.get(fault.row)) for fault in faults]


def dialect_of_all(file: BodyFile, dialect: Dialect) -> Dialect:
    """Return the dialect by the quotation marks of all rows, where those of the first ones are of RFC 4180.

    All rows are parsed only where some have marks of another kind. Raises MalformedBodyError where backslashes precede
    quotation marks, but the rows are regular neither with nor without them as escapes.
    """
    marks = _other_marks(file, dialect)
    if dialect.quoting != QUOTED or not marks:
        return dialect
    line, has_blanks = _survey(file, dialect)
    if line is None and not has_blanks:
        return dialect
    likely = [Quoting(escapes=True)] * (line is not None) + [Quoting(skips_blanks=True)]
    made = (replace(dialect, quoting=quoting) for quoting in likely)
    found = next((one for one in made if _survey(file, one)[0] is None), None)
    if found is None and line is not None and ESCAPE in marks:
        detail = "The record that begins here has a text after a closing quotation mark, or another number of cells."
        raise MalformedBodyError(f"Line {line}: {detail}", [Fault(detail, line=line)])
    return found or dialect


def _other_marks(file: BodyFile, dialect: Dialect) -> set[bytes]:
    """Return beginnings of quotation marks of other kinds: after a backslash, or after blanks in a cell."""
    after_blanks = re.compile(rb"[\r\n" + re.escape(dialect.delimiter.encode()) + rb"] +\"")
    reader, rest, found = file.reader(dialect.start), b"\n", set[bytes]()
    while piece := reader.read(PIECE):
        if b'"' in piece:  # a search for one byte takes a tenth of the time of a search for two
            text = rest + piece
            if ESCAPE in text:
                found.add(ESCAPE)
            if b' "' in text and after_blanks.search(text) is not None:
                found.add(b' "')
        rest = (rest + piece[-MAX_BLANKS:])[-MAX_BLANKS:]
    return found


def _survey(file: BodyFile, dialect: Dialect) -> tuple[int | None, bool]:
    """Return the line of the first irregular record, and whether blanks precede a quotation mark in a cell before.

    A record is irregular if it has another number of cells, or a text after a closing quotation mark.
    """
    has_blanks = False
    try:
        for line, cells in _records(file, dialect, strict=True):
            if len(cells) != len(dialect.names):
                return line, has_blanks
            has_blanks = has_blanks or any(map(_AFTER_BLANKS.match, cells))
    except BrokenRecord as broken:
        return broken.line, has_blanks
    except UnicodeDecodeError:
        return dialect.line, has_blanks
    return None, has_blanks


TITLE_HINT = "Where the line above is a title, set skip_rows to the number of lines above the names of the columns."


def why_unreadable(file: BodyFile, dialect: Dialect, reason: str) -> RelevanceError:
    """Return the error of a file that can't be read for `reason`: its first malformed or unequal lines."""
    try:
        faults = _first_faults(file, dialect)
    except UnicodeDecodeError:
        return _first_bad_byte(file)
    if not faults:
        return MalformedBodyError(f"The file can't be read as CSV: {reason}.")
    first = faults[0]
    detail = f"Line {first.line}, delimiter {shown(dialect.delimiter)}: {first.detail}"
    is_below_header = dialect.header and first.line == dialect.line
    return MalformedBodyError(f"{detail} {TITLE_HINT}" if is_below_header else detail, faults)


def _first_faults(file: BodyFile, dialect: Dialect) -> Sequence[Fault]:
    try:
        return _of_other_width(_records(file, dialect, strict=True), len(dialect.names))
    except BrokenRecord as broken:
        if broken.unclosed:
            return [Fault("The record that begins here has a quotation mark that is never closed.", line=broken.line)]
    try:
        return _of_other_width(_records(file, dialect), len(dialect.names))
    except BrokenRecord as broken:
        return [Fault(f"The record that begins here can't be parsed: {broken}.", line=broken.line)]


def _of_other_width(records: Iterator[tuple[int, list[str]]], width: int) -> Sequence[Fault]:
    others = (
        Fault(f"Expected {width} cells, got {len(cells)}.", line=line) for line, cells in records if len(cells) != width
    )
    return list(islice(others, MAX_FAULTS_REPORTED))


def _first_bad_byte(file: BodyFile) -> RelevanceError:
    reader = file.reader()
    line, rest = 1, b""
    while piece := reader.read(PIECE):
        data = rest + piece
        try:
            data.decode()
            rest = b""
        except UnicodeDecodeError as error:
            if error.start < len(data) - 3:
                return not_utf8(data, error.start, line=line)
            rest = data[error.start :]
        done = data[: len(data) - len(rest)]
        line += done.count(b"\n")
    return not_utf8(rest, 0, line=line) if rest else MalformedBodyError("The file is not UTF-8.")
