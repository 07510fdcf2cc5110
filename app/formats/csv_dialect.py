"""The dialect of a CSV file: its delimiter, whether it has a header, the start of its rows."""

import codecs
import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import BinaryIO

from app.errors import MalformedBodyError
from app.formats.cell_faults import shown
from app.formats.options import ReadOptions
from relevance_bayes.tables.kinds import is_not_finite, is_number, seconds_of
from relevance_bayes.types.errors import Fault, InvalidDataError, InvalidRequestError

DELIMITERS = ("\t", ";", "|", ",")
"""Candidates, in order of preference where several divide every line alike; a comma is also common within cells."""

SAMPLE_BYTES = 2 * 2**20
SAMPLE_RECORDS = 20


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


@dataclass(frozen=True)
class _Record:
    """A record of the sample, and its end: bytes and lines."""

    cells: list[str]
    end: int
    lines: int


def find_dialect(file: BinaryIO, options: ReadOptions) -> Dialect:
    """Detect the dialect from the beginning of a file, from its current position.

    Raises MalformedBodyError when it is not UTF-8, InvalidRequestError for an invalid delimiter, InvalidDataError when
    it is empty.
    """
    sample = file.read(SAMPLE_BYTES)
    whole = len(sample) < SAMPLE_BYTES
    bom = len(codecs.BOM_UTF8) if sample.startswith(codecs.BOM_UTF8) else 0
    text = _decoded(sample, bom, final=whole)
    delimiter = _checked(options.delimiter) if options.delimiter is not None else _find_delimiter(text, whole=whole)
    records = list(_records(text, delimiter, whole=whole))
    if not records:
        raise InvalidDataError("The first line of the file is too long." if text.strip() else "The file is empty.")
    first, cells = records[0], [record.cells for record in records]
    header = options.header if options.header is not None else _has_header(cells)
    names = [cell.strip() for cell in first.cells] if header else [""] * len(first.cells)
    ends = [0, *(record.end for record in records)]
    return Dialect(
        delimiter,
        tuple(name or f"column_{position}" for position, name in enumerate(names, start=1)),
        header,
        start=bom + (first.end if header else 0),
        line=1 + (first.lines if header else 0),
        longest=max(after - before for before, after in pairwise(ends)),
    )


def _decoded(sample: bytes, bom: int, *, final: bool) -> str:
    if sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise MalformedBodyError("The file is UTF-16; save it as UTF-8.")
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(sample[bom:], final)
    except UnicodeDecodeError as error:
        raise not_utf8(sample[bom:], error.start, line=1) from None


def not_utf8(data: bytes, position: int, *, line: int) -> MalformedBodyError:
    """Return the error for a byte of `data`, which begins on `line`, that is not UTF-8."""
    before = data[:position]
    line += before.count(b"\n") or before.count(b"\r")
    detail = f"The byte 0x{data[position]:02x} is not UTF-8; save the file as UTF-8."
    return MalformedBodyError(f"Line {line}: {detail}", [Fault(detail, line=line)])


def _checked(delimiter: str) -> str:
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter.isalnum() or delimiter in '"\r\n\0.+-':
        detail = f"Expected as delimiter one ASCII character such as , ; | or a tab, got {shown(delimiter)}."
        raise InvalidRequestError(detail, [Fault(detail, parameter="delimiter")])
    return delimiter


def _records(text: str, delimiter: str, *, whole: bool) -> Iterator[_Record]:
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
        for cells in csv.reader(counted(io.StringIO(text, newline="")), delimiter=delimiter):
            if waiting is not None:
                yield waiting
                count += 1
            waiting = _Record(cells, end, lines) if cells else None
            if count == SAMPLE_RECORDS:
                return
        whole_to_the_last = whole
    except csv.Error:  # a cell longer than the csv module's maximum of 131,072 characters, after the previous record
        whole_to_the_last = True
    if waiting is not None and whole_to_the_last:
        yield waiting


def _find_delimiter(text: str, *, whole: bool) -> str:
    """Return the delimiter that divides every record into as many cells, at least two; else the most frequent in line
    1."""
    for delimiter in DELIMITERS:
        widths = {len(record.cells) for record in _records(text, delimiter, whole=whole)}
        if len(widths) == 1 and min(widths) > 1:
            return delimiter
    first = next(iter(io.StringIO(text.lstrip("\r\n"), newline="")), "")
    return max(reversed(DELIMITERS), key=first.count)


def _has_header(records: Sequence[Sequence[str]]) -> bool:
    """Return whether the first record is a header.

    It is where a text is above only numbers or timestamps; it is not where it contains a number or a timestamp;
    otherwise it is.
    """
    first, rest = records[0], records[1:]
    if rest:
        for position, cell in enumerate(first):
            below = [record[position] for record in rest if position < len(record) and record[position].strip()]
            if cell.strip() and not _is_value(cell) and below and all(map(_is_value, below)):
                return True
    return not any(map(_is_value, first))


def _is_value(cell: str) -> bool:
    text = cell.strip()
    return is_number(text.replace(",", ".")) or is_not_finite(text) or seconds_of(text) is not None
