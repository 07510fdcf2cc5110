"""The dialect of CSV, and the positions of its cells in the file."""

import codecs
import csv
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import BinaryIO, TypedDict

from app.errors import MalformedBodyError
from app.formats.cells import MAX_FAULTS_REPORTED, shown
from app.formats.csv_header import comments_before, find_beginning, has_header, lines_in, skip_lines
from app.formats.format import ReadOptions
from app.formats.spool import BodyFile
from relevance_bayes.records.errors import Fault, InvalidDataError, InvalidRequestError, RelevanceError
from relevance_bayes.tables.kinds import is_number

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
    _refuse_foreign(sample, "CSV")
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


def _records_of_file(file: BodyFile, dialect: Dialect, *, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
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
        for number, (line, _) in enumerate(_records_of_file(file, dialect)):
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
        for line, cells in _records_of_file(file, dialect, strict=True):
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
        return _of_other_width(_records_of_file(file, dialect, strict=True), len(dialect.names))
    except BrokenRecord as broken:
        if broken.unclosed:
            return [Fault("The record that begins here has a quotation mark that is never closed.", line=broken.line)]
    try:
        return _of_other_width(_records_of_file(file, dialect), len(dialect.names))
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


MAX_LOOK = 512

BEGINNINGS: tuple[tuple[bytes, str], ...] = (
    (b"version https://git-lfs.github.com/spec/", "a pointer of Git LFS; run git lfs pull to fetch the file itself"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an older Office file (.xls); save it as xlsx or CSV"),
    (b"PAR1", "Parquet; send it as parquet"),
    (b"ARROW1", "an Arrow file; send it as feather"),
    (b"FEA1", "Feather of version 1; write it with a current library"),
    (b"\x93NUMPY", "npy; send it as npy"),
    (b"\x1f\x8b", "compressed with gzip; send it with Content-Encoding: gzip, or as .csv.gz"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd; send it with Content-Encoding: zstd, or as .csv.zst"),
    (b"BZh", "compressed with bzip2; decompress it"),
    (b"\xfd7zXZ\x00", "compressed with xz; decompress it"),
    (b"SQLite format 3\x00", "an SQLite database; export a table as CSV"),
    (b"%PDF-", "a PDF document"),
    (b"{\\rtf", "an RTF document"),
    (b"\x89HDF\r\n\x1a\n", "HDF5; export a table as CSV or Parquet"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image; send it as png"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"RDX", "an R data file; export a table as CSV"),
    (b"Obj\x01", "an Avro file; export it as Parquet"),
)
"""First bytes of files, and what they are."""

PICKLE = re.compile(rb"\x80[\x02-\x05](?:\x95.{8})?[\x8c}\](cX]", re.DOTALL)
MARKUP = re.compile(rb"\s*<(?:!doctype\s+html|html|head|body|table|\?xml|svg)\b", re.IGNORECASE)
ZIP = b"PK\x03\x04"


def _kind_of_file(content: bytes) -> str | None:
    """Return what a file is, by its first bytes, which may be all; None for what may be text."""
    beginning = content[:MAX_LOOK]
    for first, kind in BEGINNINGS:
        if beginning.startswith(first):
            return kind
    if PICKLE.match(beginning):
        return "a pickle of Python, which is not read; export a table as CSV or Parquet"
    if MARKUP.match(beginning):
        is_page = b"<?xml" not in beginning or b"<html" in beginning.lower()
        return "an HTML page, not a table; download the file itself" if is_page else "XML; export a table as CSV"
    return _kind_of_archive(content) if beginning.startswith(ZIP) else None


def _kind_of_archive(content: bytes) -> str:
    """Return what a ZIP file is, from its first bytes, or all of them where its list of parts is to be read."""
    if b"mimetypeapplication/vnd.oasis.opendocument" in content[:MAX_LOOK]:
        return "an OpenDocument file (ODS); save it as xlsx or CSV"
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = {*archive.namelist()}
    except (zipfile.BadZipFile, OSError, ValueError):
        names = set(re.findall(rb"xl/workbook\.(?:bin|xml)", content)) and {"xl/workbook.xml"}
    if "xl/workbook.bin" in names:
        return "a binary workbook (XLSB); save it as xlsx or CSV"
    if "xl/workbook.xml" in names:
        return "a workbook; send it as xlsx"
    return "a ZIP archive; send the file within it"


def _refuse_foreign(content: bytes, expected: str) -> None:
    """Raise MalformedBodyError for a file that, by its first bytes, is of another kind than that `expected`."""
    if (kind := _kind_of_file(content)) is not None:
        raise MalformedBodyError(f"Expected {expected}; the file is {kind}.")
