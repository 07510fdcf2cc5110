"""CSV as a stream of typed blocks, parsed by Arrow (without the GIL) in small chunks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import pyarrow as pa
import pyarrow.csv as pacsv

from app.formats.cell_faults import MAX_FAULTS_REPORTED, refuse
from app.formats.csv_columns import column_of_texts, has_only_numbers, numbers_of_texts
from app.formats.csv_dialect import Dialect, find_dialect
from app.formats.csv_positions import lines_of, why_unreadable
from app.formats.dates import ISO, DateFormat, checked_format, find_date_formats
from app.formats.options import ReadOptions
from app.formats.separators import Separators, find_separators, is_numeric
from app.formats.spool import BodyFile
from app.formats.streams import TableStream, check_names, kinds_of
from relevance_bayes.tables.columns import Block, Column, rows_of_a_block
from relevance_bayes.tables.kinds import ROWS_LOOKED_AT, kind_of_texts
from relevance_bayes.types.errors import Fault, InvalidDataError
from relevance_bayes.types.values import ColumnKind

PIECE = 2**20
MAX_PIECE_BYTES = 2 * 2**20
"""The number of bytes that are parsed at once, more where rows are long; Arrow reads some sixteen chunks ahead."""

RECORDS_OF_A_PIECE = 64
MAX_BYTES_LOOKED_AT = 16 * 2**20
"""The maximum size of the first rows, at most 1,000, from which kinds are inferred."""


@dataclass(frozen=True)
class _Reading:
    """The options by which the cells of a file become typed columns."""

    file: BodyFile
    dialect: Dialect
    separators: Separators
    dates: Mapping[str, DateFormat]
    kinds: tuple[ColumnKind, ...]
    inferred: frozenset[str]


def open_csv(
    file: BodyFile, options: ReadOptions, *, declared: Mapping[str, ColumnKind], max_columns: int
) -> TableStream:
    """Return a seekable CSV file as a stream of blocks; options not given are detected.

    Raises MalformedBodyError, InvalidDataError, InvalidRequestError (a kind declared for an unknown column) and
    TooLargeError.
    """
    dialect = find_dialect(file.reader(), options)
    check_names(dialect.names, max_columns=max_columns, line=dialect.line - 1 if dialect.header else None)
    batches = text_batches(file, dialect)
    head = _head(batches)
    if not head:
        raise InvalidDataError("The table has no rows: the file has only a header.")
    table = pa.Table.from_batches(head).slice(0, ROWS_LOOKED_AT)
    numeric = [
        (name, table.column(position))
        for position, name in enumerate(dialect.names)
        if declared.get(name) == "number" or (name not in declared and is_numeric(table.column(position)))
    ]
    separators = find_separators(numeric, dialect.delimiter, options)
    times = [
        (name, table.column(place))
        for place, name in enumerate(dialect.names)
        if declared.get(name, "timestamp") == "timestamp"
    ]
    dates = find_date_formats(times, checked_format(options.date_format))
    kinds = kinds_of(
        dialect.names,
        declared,
        (_kind_of(table, place, separators, dates.get(name, ISO)) for place, name in enumerate(dialect.names)),
    )
    reading = _Reading(file, dialect, separators, dates, kinds, frozenset(dialect.names) - declared.keys())
    return TableStream(dialect.names, kinds, _blocks(chain(head, batches), reading))


def text_batches(file: BodyFile, dialect: Dialect) -> Iterator[pa.RecordBatch]:
    """Yield the rows as strings, null where empty; raises MalformedBodyError where the file can't be parsed as CSV.

    An empty row is appended: if it is not parsed as one, a quotation mark before it is never closed.
    """
    width = len(dialect.names)
    names = [str(position) for position in range(width)]
    ending = "\n" + (dialect.delimiter * (width - 1) if width > 1 else '""') + "\n"
    size = min(max(RECORDS_OF_A_PIECE * dialect.longest, PIECE), MAX_PIECE_BYTES)
    waiting: pa.RecordBatch | None = None
    try:
        reader = pacsv.open_csv(
            file.reader(dialect.start, then=ending.encode()),
            read_options=pacsv.ReadOptions(use_threads=False, block_size=size, column_names=names),
            parse_options=pacsv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=True),
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


def _head(batches: Iterator[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """Return the first batches, as many as are needed to infer the kinds."""
    head: list[pa.RecordBatch] = []
    for batch in batches:
        head.append(batch)
        if sum(b.num_rows for b in head) >= ROWS_LOOKED_AT or sum(b.nbytes for b in head) >= MAX_BYTES_LOOKED_AT:
            break
    return head


def _texts(table: pa.Table, position: int) -> list[str]:
    return [str(cell).strip() for cell in table.column(position).to_pylist() if cell is not None]


def _kind_of(table: pa.Table, position: int, separators: Separators, dates: DateFormat) -> ColumnKind:
    if all(
        has_only_numbers(texts, separators)
        for texts in table.column(position).chunks
        if isinstance(texts, pa.StringArray)
    ):
        return "number"
    return kind_of_texts(separators.pointed(dates.iso(text)) for text in _texts(table, position))


def _blocks(batches: Iterable[pa.RecordBatch], reading: _Reading) -> Iterator[Block]:
    step = rows_of_a_block(len(reading.kinds))
    first_row = 0
    for batch in batches:
        for first in range(0, batch.num_rows, step):
            piece = batch.slice(first, step)
            yield _block(piece, reading, first_row)
            first_row += piece.num_rows


def strings_of(batch: pa.RecordBatch) -> list[pa.StringArray]:
    """Return the columns of such a batch."""
    return [column for column in batch.columns if isinstance(column, pa.StringArray)]


def _block(batch: pa.RecordBatch, reading: _Reading, first_row: int) -> Block:
    texts = dict(zip(reading.dialect.names, strings_of(batch), strict=True))
    kinds = dict(zip(reading.dialect.names, reading.kinds, strict=True))
    numeric = [name for name, kind in kinds.items() if kind == "number"]
    exact = [name in reading.inferred for name in numeric]
    numbers = numbers_of_texts([texts[name] for name in numeric], separators=reading.separators, exact=exact)
    read = dict(zip(numeric, numbers, strict=True))
    dates = reading.dates
    read |= {
        name: column_of_texts(kind, texts[name], dates.get(name, ISO))
        for name, kind in kinds.items()
        if kind != "number"
    }
    block: dict[str, Column] = {name: read[name][0] for name in kinds}
    wrong = [(first_row + row, name, detail) for name in kinds for row, detail in read[name][1]]
    if wrong:
        _refuse(sorted(wrong, key=lambda cell_fault: cell_fault[0]), reading)
    return block


def _refuse(wrong: Sequence[tuple[int, str, str]], reading: _Reading) -> None:
    rows = sorted({row for row, _, _ in wrong[:MAX_FAULTS_REPORTED]})
    lines = dict(zip(rows, lines_of(reading.file, reading.dialect, rows), strict=True))
    faults = [Fault(detail, row=row, column=name, line=lines.get(row)) for row, name, detail in wrong]
    refuse(faults, inferred=reading.inferred)
