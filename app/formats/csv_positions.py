"""Positions of errors in a CSV file, found by a second, slower parse of an invalid file."""

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import islice

from app.errors import MalformedBodyError
from app.formats.cell_faults import MAX_FAULTS_REPORTED, shown
from app.formats.csv_dialect import Dialect, not_utf8
from app.formats.spool import BodyFile
from relevance_bayes.types.errors import Fault, RelevanceError

PIECE = 2**20


class BrokenRecord(Exception):
    """Raised for a record that can't be parsed, with the line on which it begins."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.unclosed = "unexpected end" in reason


def _records(file: BodyFile, dialect: Dialect, *, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Yield the records that are not blank, each with the line on which it begins; raises BrokenRecord.

    Unless `strict`, text may follow a closing quotation mark, as in Arrow.
    """
    text = io.TextIOWrapper(file.reader(dialect.start), encoding="utf-8", newline="")
    reader = csv.reader(text, delimiter=dialect.delimiter, strict=strict)
    line = dialect.line
    try:
        for cells in reader:
            if cells:
                yield line, cells
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


def why_unreadable(file: BodyFile, dialect: Dialect, reason: str) -> RelevanceError:
    """Return the error of a file that can't be read for `reason`: its first malformed or unequal lines."""
    try:
        faults = _first_faults(file, dialect)
    except UnicodeDecodeError:
        return _first_bad_byte(file)
    if not faults:
        return MalformedBodyError(f"The file can't be read as CSV: {reason}.")
    first = faults[0]
    return MalformedBodyError(f"Line {first.line}, delimiter {shown(dialect.delimiter)}: {first.detail}", faults)


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
