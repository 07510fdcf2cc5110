"""The dialect of a CSV file: its delimiter, whether it has a header, the start of its rows."""

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import BinaryIO, TypedDict

from app.errors import MalformedBodyError
from app.formats.cell_faults import shown
from app.formats.csv_beginning import comments_before, find_beginning, lines_in, skip_lines
from app.formats.csv_header import has_header
from app.formats.foreign_files import refuse_foreign
from app.formats.options import ReadOptions
from relevance_bayes.tables.kinds import is_number
from relevance_bayes.types.errors import Fault, InvalidDataError, InvalidRequestError

DELIMITERS = ("\t", ";", "|", ",")
"""Candidates, in order of preference where several divide every line alike; a comma is also common within cells."""

SAMPLE_BYTES = 2 * 2**20
SAMPLE_RECORDS = 20


class ReaderOptions(TypedDict):
    """The parameters of a reader of the csv module."""

    delimiter: str
    escapechar: str | None
    doublequote: bool
    skipinitialspace: bool


@dataclass(frozen=True)
class Quoting:
    """The quotation marks of a file, besides those of RFC 4180.

    `escapes`: a backslash precedes a quotation mark within quoted cells, as MySQL and Spark write it. `skips_blanks`:
    blanks may precede an opening quotation mark.
    """

    escapes: bool = False
    skips_blanks: bool = False

    def reader_options(self, delimiter: str) -> ReaderOptions:
        """Return the parameters of a reader."""
        return {
            "delimiter": delimiter,
            "escapechar": "\\" if self.escapes else None,
            "doublequote": not self.escapes,
            "skipinitialspace": self.skips_blanks,
        }


QUOTED = Quoting()


@dataclass(frozen=True)
class Dialect:
    """The dialect of a file.

    Its rows begin at byte `start`, on line `line` (from 1); a row is as wide as `names`. `longest` is the size in bytes
    of the longest record in the sample.
    """

    delimiter: str
    names: tuple[str, ...]
    header: bool
    start: int
    line: int
    longest: int
    quoting: Quoting = QUOTED


@dataclass(frozen=True)
class _Record:
    """A record of the sample, and its end: bytes and lines."""

    cells: list[str]
    end: int
    lines: int


def find_dialect(file: BinaryIO, options: ReadOptions) -> Dialect:
    """Detect the dialect from the beginning of a file, from its current position.

    Raises MalformedBodyError when it is not UTF-8 or of another format, InvalidRequestError for an invalid delimiter,
    InvalidDataError when it is empty, or its first line may be a header or a row.
    """
    sample = file.read(SAMPLE_BYTES)
    refuse_foreign(sample, "CSV")
    whole = len(sample) < SAMPLE_BYTES
    bom = 0
    while sample.startswith(codecs.BOM_UTF8, bom):
        bom += len(codecs.BOM_UTF8)
    text = _decoded(sample, bom, final=whole)
    skipped = skip_lines(text, options.skip_rows or 0)
    beginning = find_beginning(text[skipped:])
    skipped += beginning.length
    given = options.delimiter if options.delimiter is not None else beginning.delimiter
    delimiter, comments = _delimiter_after_comments(text[skipped:], given, whole=whole)
    skipped += comments
    before, text = text[:skipped], text[skipped:]
    quoting = _find_quoting(text, delimiter, whole=whole)
    records = list(_records(text, delimiter, quoting, whole=whole))
    if not records:
        raise InvalidDataError("The first line of the file is too long." if text.strip() else "The file is empty.")
    first, cells = records[0], [record.cells for record in records]
    if given is None and len(first.cells) == 1:
        _refuse_columns_by_blanks(cells)
    lines = 1 + lines_in(before)
    header = options.header if options.header is not None else has_header(cells, line=lines + first.lines - 1)
    names = [cell.strip() for cell in first.cells] if header else [""] * len(first.cells)
    ends = [0, *(record.end for record in records)]
    return Dialect(
        delimiter,
        tuple(name or f"column_{position}" for position, name in enumerate(names, start=1)),
        header,
        start=bom + len(before.encode()) + (first.end if header else 0),
        line=lines + (first.lines if header else 0),
        longest=max(after - before for before, after in pairwise(ends)),
        quoting=quoting,
    )


def _decoded(sample: bytes, bom: int, *, final: bool) -> str:
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(sample[bom:], final)
    except UnicodeDecodeError as error:
        raise not_utf8(sample[bom:], error.start, line=1) from None


def _delimiter_after_comments(text: str, given: str | None, *, whole: bool) -> tuple[str, int]:
    """Return the delimiter, and the length of a block of comments before the table.

    A line of comments with as many cells, at least two, as the line that follows it names the columns.
    """
    lines = comments_before(text)
    length = sum(map(len, lines))
    rest = text[length:]
    delimiter = _checked(given) if given is not None else _find_delimiter(rest or text, whole=whole)
    if not lines or not rest:
        return delimiter, 0
    following = next(_records(rest, delimiter, QUOTED, whole=whole), None)
    width = 0 if following is None else len(following.cells)
    last = next(csv.reader([lines[-1]], delimiter=delimiter), [])
    if last and len(last) == width and (width > 1 or not lines[-1].startswith("# ")):
        return delimiter, length - len(lines[-1])
    return delimiter, length


def _refuse_columns_by_blanks(records: Sequence[Sequence[str]]) -> None:
    """Raise InvalidDataError where blanks divide all lines of a file alike, and a part of each row is a number."""
    rows = [cell.split() for cells in records for cell in cells]
    width = len(rows[0])
    if width < 2 or len(rows) < 2 or any(len(row) != width for row in rows):
        return
    if any(all(is_number(row[position]) for row in rows[1:]) for position in range(width)):
        detail = f'The columns seem to be delimited by blanks: set delimiter=" " for {width}, or delimiter="," for one.'
        raise InvalidDataError(detail, [Fault(detail, parameter="delimiter")])


def not_utf8(data: bytes, position: int, *, line: int) -> MalformedBodyError:
    """Return the error for a byte of `data`, which begins on `line`, that is not UTF-8."""
    before = data[:position]
    line += before.count(b"\n") or before.count(b"\r")
    detail = (
        f"The byte 0x{data[position]:02x} is not UTF-8; save the file as UTF-8, or set "
        'encoding="cp1252" (Windows) or encoding="latin-1".'
    )
    return MalformedBodyError(f"Line {line}: {detail}", [Fault(detail, line=line)])


def _checked(delimiter: str) -> str:
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter.isalnum() or delimiter in '"\r\n\0.+-':
        detail = f"Expected as delimiter one ASCII character such as , ; | or a tab, got {shown(delimiter)}."
        raise InvalidRequestError(detail, [Fault(detail, parameter="delimiter")])
    return delimiter


def _records(text: str, delimiter: str, quoting: Quoting, *, whole: bool, strict: bool = False) -> Iterator[_Record]:
    """Yield the first records that are not blank; the last of a truncated sample is incomplete and left out."""
    end = lines = 0

    def counted(source: Iterable[str]) -> Iterator[str]:
        nonlocal end, lines
        for line in source:
            end += len(line.encode())
            lines += 1
            yield line

    waiting: _Record | None = None
    count = 0
    try:
        lines_of_text = counted(io.StringIO(text, newline=""))
        for cells in csv.reader(lines_of_text, strict=strict, **quoting.reader_options(delimiter)):
            if waiting is not None:
                yield waiting
                count += 1
            waiting = _Record(cells, end, lines) if cells else None
            if count == SAMPLE_RECORDS:
                return
        whole_to_the_last = whole
    except csv.Error:  # a cell longer than the csv module's maximum of 131,072 characters, after the previous record
        if strict:
            raise
        whole_to_the_last = True
    if waiting is not None and whole_to_the_last:
        yield waiting


def _find_delimiter(text: str, *, whole: bool) -> str:
    """Return the delimiter that divides every record into as many cells, at least two; else the most frequent in line
    1."""
    for delimiter in DELIMITERS:
        widths = {len(record.cells) for record in _records(text, delimiter, QUOTED, whole=whole)}
        if len(widths) == 1 and min(widths) > 1:
            return delimiter
    first = next(iter(io.StringIO(text.lstrip("\r\n"), newline="")), "")
    return max(reversed(DELIMITERS), key=first.count)


def _find_quoting(text: str, delimiter: str, *, whole: bool) -> Quoting:
    """Return the quotation marks by which the sample has records of equal width, those of RFC 4180 where they do."""
    escapes = '\\"' in text
    has_blanks = f"{delimiter} " in text and any(
        re.match(r'[ \t]+"', cell) for record in _records(text, delimiter, QUOTED, whole=whole) for cell in record.cells
    )
    if escapes and not has_blanks and _is_regular(text, delimiter, QUOTED, whole=whole):
        return QUOTED
    likely = [Quoting(escapes=True)] * escapes + [Quoting(skips_blanks=True)] * has_blanks
    return next((one for one in likely if _is_regular(text, delimiter, one, whole=whole)), QUOTED)


def _is_regular(text: str, delimiter: str, quoting: Quoting, *, whole: bool) -> bool:
    """Return whether the records have equal widths, and no text follows a closing quotation mark."""
    try:
        return len({len(record.cells) for record in _records(text, delimiter, quoting, whole=whole, strict=True)}) == 1
    except csv.Error:
        return False
