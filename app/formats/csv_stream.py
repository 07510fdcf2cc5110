"""CSV as a stream of blocks, and as rows to predict."""

import codecs
import csv
import io
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import BinaryIO

import pyarrow as pa
import pyarrow.csv as pacsv

from app.errors import MalformedBodyError, UnavailableError
from app.formats.cells import MAX_FAULTS_REPORTED, Expected, ReadRows, faults_of, need_rows
from app.formats.csv_columns import (
    CodeColumns,
    TextColumn,
    column_of_texts,
    find_readings,
    later_reading,
    numbers_of_texts,
    readings_of,
    row_readings,
)
from app.formats.csv_dialect import Dialect, dialect_of_all, find_dialect, why_unreadable, with_lines
from app.formats.format import ReadOptions
from app.formats.spool import BodyFile, BodyInMemory, SpoolFile, new_spool_file, write_whole, writing
from app.formats.streams import (
    ReadAgainError,
    TableStream,
    checked_names,
    kinds_of,
    refuse_or_revise,
    stored_names,
    with_places,
)
from relevance_bayes.records.errors import InvalidDataError
from relevance_bayes.records.values import ColumnKind, TextEncoding
from relevance_bayes.tables.columns import Block, Column, rows_of_a_block
from relevance_bayes.tables.kinds import ROWS_LOOKED_AT

PIECE = 2**20
BOMS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks by which an encoding is detected; those of UTF-8 stay."""


def _in_utf8(file: BodyFile, encoding: TextEncoding | None) -> BodyFile:
    """Return a file in UTF-8: the file itself where it is.

    UTF-16 and UTF-32 are detected by their byte order mark; others are read where they are requested. Raises
    MalformedBodyError where the file is in another encoding.
    """
    beginning = file.reader().read(4)
    found = next((name for bom, name in BOMS if beginning.startswith(bom)), None) or encoding
    if found is None or found == "utf-8":
        return file
    recoded = new_spool_file(None)  # closed with the body below
    reader, decoder = file.reader(), codecs.getincrementaldecoder(found)()
    size = 0
    try:
        while piece := reader.read(PIECE):
            size += _write(recoded, decoder.decode(piece))
        size += _write(recoded, decoder.decode(b"", final=True))
    except UnicodeError as error:
        recoded.close()
        raise MalformedBodyError(f"The file can't be read as {found}: {error}.") from None
    except UnavailableError:
        recoded.close()
        raise
    body = SpoolFile(recoded, max_bytes=size)
    body.size = size
    weakref.finalize(body, recoded.close)  # readers have a descriptor of their own
    return body


def _write(file: BinaryIO, text: str) -> int:
    """Write a text in UTF-8, and return its bytes; raises StorageFullError."""
    content = text.encode()
    with writing():
        write_whole(file, content)
    return len(content)


MAX_PIECE_BYTES = 2 * 2**20
"""The number of bytes that are parsed at once, more where rows are long; Arrow reads some sixteen chunks ahead."""

RECORDS_OF_A_PIECE = 64
RECORDS_OF_A_BATCH = 8_192
"""The number of records of a file that Arrow does not parse that are held at once."""

MAX_BYTES_LOOKED_AT = 16 * 2**20
"""The maximum size of the first rows, at most 1,000, from which kinds are inferred."""


def open_csv(
    file: BodyFile, options: ReadOptions, *, declared: Mapping[str, ColumnKind], max_columns: int
) -> TableStream:
    """Return a seekable CSV file as a stream of blocks; options not given are detected.

    Raises MalformedBodyError, InvalidDataError, InvalidRequestError (a kind declared for an unknown column) and
    TooLargeError.
    """
    file = _in_utf8(file, options.encoding)
    dialect = dialect_of_all(file, find_dialect(file.reader(), options))
    line = dialect.line - 1 if dialect.header else None
    names, given_names = checked_names(dialect.names, max_columns=max_columns, line=line)
    batches = _text_batches(file, dialect)
    head = _head(batches)
    if not head:
        raise InvalidDataError("The table has no rows: the file has only a header.")
    kinds_of(names, declared, (declared.get(name, "number") for name in names))
    table = pa.Table.from_batches(head).slice(0, ROWS_LOOKED_AT).rename_columns(list(names))
    with with_places(partial(with_lines, file, dialect)):
        columns = find_readings(table, dialect.delimiter, options, declared=declared)
    reread = partial(later_reading, delimiter=dialect.delimiter, options=options, declared=declared)
    blocks = _Blocks(file, dialect, columns, reread)
    readings = readings_of(blocks.columns, blocks.missing_texts, given_names, has_header=dialect.header)
    return TableStream(
        names, tuple(column.kind for column in columns), blocks.read(chain(head, batches)), readings=readings
    )


def open_texts(
    file: BodyFile, options: ReadOptions, *, max_columns: int
) -> tuple[tuple[str, ...], Iterator[pa.RecordBatch]]:
    """Return the names of a file's columns, and its rows as strings, to the letter; null where empty.

    Raises as `open_csv` does.
    """
    file = _in_utf8(file, options.encoding)
    dialect = dialect_of_all(file, find_dialect(file.reader(), options))
    names, _ = checked_names(dialect.names, max_columns=max_columns, line=dialect.line - 1 if dialect.header else None)
    return names, _text_batches(file, dialect)


def _text_batches(file: BodyFile, dialect: Dialect) -> Iterator[pa.RecordBatch]:
    """Yield the rows as strings, null where empty; raises MalformedBodyError where the file can't be parsed as CSV.

    An empty row is appended: if it is not parsed as one, a quotation mark before it is never closed.
    """
    if dialect.quoting.skips_blanks:
        yield from _parsed_batches(file, dialect)
        return
    width = len(dialect.names)
    names = [str(position) for position in range(width)]
    # A blank line of one column is a missing value, so that none is appended after the last line.
    ending = dialect.delimiter * (width - 1) if width > 1 else '""'
    ending = ending + "\n" if width == 1 and _ends_a_line(file) else "\n" + ending + "\n"
    size = min(max(RECORDS_OF_A_PIECE * dialect.longest, PIECE), MAX_PIECE_BYTES)
    waiting: pa.RecordBatch | None = None
    try:
        reader = pacsv.open_csv(
            file.reader(dialect.start, then=ending.encode()),
            read_options=pacsv.ReadOptions(use_threads=False, block_size=size, column_names=names),
            parse_options=pacsv.ParseOptions(
                delimiter=dialect.delimiter,
                newlines_in_values=True,
                ignore_empty_lines=width > 1,
                escape_char="\\" if dialect.quoting.escapes else False,
                double_quote=not dialect.quoting.escapes,
            ),
            convert_options=pacsv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
                # Unused, but otherwise each of thousands of columns keeps copies of the defaults.
                true_values=[],
                false_values=[],
            ),
        )
        for batch in reader:
            if waiting is not None:
                yield waiting
            waiting = batch if batch.num_rows else waiting
    except pa.ArrowInvalid as error:
        raise why_unreadable(file, dialect, str(error)) from None
    last = waiting.num_rows - 1 if waiting is not None else -1
    if waiting is None or any(column[last].is_valid for column in waiting.columns):
        raise why_unreadable(file, dialect, "a quotation mark is never closed")
    if last:
        yield waiting.slice(0, last)


def _ends_a_line(file: BodyFile) -> bool:
    reader = file.reader()
    size = reader.seek(0, io.SEEK_END)
    return size > 0 and file.reader(size - 1).read(1) in {b"\n", b"\r"}


def _parsed_batches(file: BodyFile, dialect: Dialect) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file whose quotation marks follow blanks, which Arrow takes for a part of the cell."""
    width = len(dialect.names)
    lines = io.TextIOWrapper(file.reader(dialect.start), encoding="utf-8", newline="")
    rows = csv.reader(lines, strict=True, **dialect.quoting.reader_options(dialect.delimiter))
    try:
        while some := [*islice(rows, RECORDS_OF_A_BATCH)]:
            present = [cells for cells in some if cells] if width > 1 else [cells or [""] for cells in some]
            if any(len(cells) != width for cells in present):
                raise why_unreadable(file, dialect, "its rows have unequal widths")
            columns = [pa.array([cell or None for cell in cells], pa.string()) for cells in zip(*present, strict=True)]
            if columns:
                yield pa.RecordBatch.from_arrays(columns, [str(position) for position in range(width)])
    except (csv.Error, UnicodeDecodeError) as error:
        raise why_unreadable(file, dialect, str(error)) from None


def _head(batches: Iterator[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """Return the first batches, as many as are needed to infer the kinds."""
    head: list[pa.RecordBatch] = []
    for batch in batches:
        head.append(batch)
        if sum(b.num_rows for b in head) >= ROWS_LOOKED_AT or sum(b.nbytes for b in head) >= MAX_BYTES_LOOKED_AT:
            break
    return head


def strings_of(batch: pa.RecordBatch) -> list[pa.StringArray]:
    """Return the columns of such a batch."""
    return [column for column in batch.columns if isinstance(column, pa.StringArray)]


class _Blocks:
    """The blocks of a file, the readings of its columns, and the texts that they have for missing values."""

    def __init__(
        self,
        file: BodyFile,
        dialect: Dialect,
        columns: Sequence[TextColumn],
        reread: Callable[[TextColumn, pa.StringArray], TextColumn],
    ) -> None:
        self._file = file
        self._dialect = dialect
        self.columns = [*columns]
        self._reread = reread
        self._inferred = frozenset(column.name for column in columns if column.is_inferred)
        self._codes = CodeColumns(columns)
        self.missing_texts: dict[str, dict[str, int]] = {column.name: {} for column in columns}

    def read(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Block]:
        """Yield the rows as blocks."""
        step = rows_of_a_block(len(self.columns))
        first_row = 0
        rest = iter(batches)
        for batch in rest:
            if again := self._fill(batch):
                for later in rest:
                    again |= self._fill(later)
                raise ReadAgainError(again)
            for first in range(0, batch.num_rows, step):
                piece = batch.slice(first, step)
                yield self._block(piece, first_row)
                first_row += piece.num_rows

    def _fill(self, batch: pa.RecordBatch) -> dict[str, ColumnKind]:
        """Find the readings of columns whose rows were empty so far; return those that have another kind."""
        again: dict[str, ColumnKind] = {}
        for place, column in enumerate(self.columns):
            if not column.is_empty:
                continue
            found = self._reread(column, strings_of(batch)[place])
            if found.kind != column.kind:
                again[column.name] = found.kind
            self._codes.add(found)
            self.columns[place] = found
        return again

    def _block(self, batch: pa.RecordBatch, first_row: int) -> Block:
        texts = dict(zip((column.name for column in self.columns), strings_of(batch), strict=True))
        self._codes.check(texts)
        numeric = [column for column in self.columns if column.kind == "number"]
        numbers = numbers_of_texts([texts[one.name] for one in numeric], [one.numbers for one in numeric])
        read = {column.name: found for column, found in zip(numeric, numbers, strict=True)}
        for column in self.columns:
            if column.kind != "number":
                markers = column.numbers.markers
                read[column.name] = column_of_texts(column.kind, texts[column.name], column.dates, markers)
        block: dict[str, Column] = {column.name: read[column.name].column for column in self.columns}
        if any(one.cell_faults for one in read.values()):
            wrong = {column.name: read[column.name].cell_faults for column in self.columns}
            refuse_or_revise(wrong, self._inferred, first_row, partial(with_lines, self._file, self._dialect))
        for name, one in read.items():
            for text, count in one.missing_texts.items():
                self.missing_texts[name][text] = self.missing_texts[name].get(text, 0) + count
        return block


def read_csv(body: bytes, options: ReadOptions, expected: Expected) -> ReadRows:
    """Read the rows of a CSV file, in which an empty cell is a missing value; options not given are detected.

    Raises MalformedBodyError, InvalidDataError for columns other than those expected, InvalidRequestError for an
    invalid delimiter, and TooLargeError.
    """
    file = _in_utf8(BodyInMemory(body), options.encoding)
    dialect = dialect_of_all(file, find_dialect(file.reader(), replace(options, header=True)))
    names, _ = stored_names(dialect.names)
    columns = expected.among(names, line=dialect.line - 1)
    batches: list[pa.RecordBatch] = []
    rows = 0
    for batch in _text_batches(file, dialect):
        rows += batch.num_rows
        expected.check_rows(rows)
        batches.append(batch)
    need_rows(rows)
    table = pa.Table.from_batches(batches).rename_columns(list(names))
    (whole,) = table.combine_chunks().to_batches()
    texts = dict(zip(names, strings_of(whole), strict=True))
    # Without quotation marks no cell has a comma, if commas delimit cells: nothing is to be found.
    is_plain = dialect.delimiter == "," and options.decimal is options.thousands is None and b'"' not in body
    readings = row_readings(table, columns, dialect.delimiter, options, forms=expected.forms, is_plain=is_plain)
    numeric = [name for name, kind in columns if kind == "number"]
    numbers = numbers_of_texts([texts[name] for name in numeric], [readings[name].numbers for name in numeric])
    read = dict(zip(numeric, numbers, strict=True))
    read |= {
        name: column_of_texts(kind, texts[name], readings[name].dates, readings[name].numbers.markers)
        for name, kind in columns
        if kind != "number"
    }
    block: dict[str, Column] = {name: read[name].column for name, _ in columns}
    faults = sorted(faults_of({name: read[name].cell_faults for name, _ in columns}), key=lambda one: one.row or 0)
    placed = with_lines(file, dialect, faults[:MAX_FAULTS_REPORTED])
    return ReadRows(block, (*placed, *faults[MAX_FAULTS_REPORTED:]))
