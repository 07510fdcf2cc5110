"""The rows of a file to predict for, in any of the service's formats."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import SEEK_END
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

from app.formats import DEFAULT, TABLE_FORMATS, by_suffix
from app.formats.cells import Expected, refuse
from app.formats.format import ReadOptions, RowFormat, TableFormat, TableLimits
from app.formats.spool import SpoolFile
from app.formats.streams import TableStream
from app.http.content_encodings import PIECE, Decompressor
from relevance_bayes.cli.rows import Row, RowOptions
from relevance_bayes.records.formats import content_encoding_of, uncompressed
from relevance_bayes.records.values import ColumnKind
from relevance_bayes.tables.columns import block_rows
from relevance_bayes.tables.encoding import raw_cells

MAX_COLUMNS, MAX_ROWS, MAX_BYTES = 100_000, 10**9, 10**12


def batches(path: Path, kinds: Mapping[str, ColumnKind], *, size: int, options: RowOptions) -> Iterator[Sequence[Row]]:
    """Read at most `size` rows at a time, with all columns: those in `kinds` as such, others as strings.

    Cells of a CSV `as_written` are texts, to the letter. Raises RelevanceError where the file is malformed, or a value
    is not of its column's kind.
    """
    written = by_suffix(TABLE_FORMATS, uncompressed(path)) or DEFAULT
    with _opened(path) as opened:
        size_in_bytes = opened.seek(0, SEEK_END)
        opened.seek(0)
        file = SpoolFile(opened, max_bytes=size_in_bytes)
        file.size = size_in_bytes
        if options.as_written and isinstance(written, RowFormat) and written.has_text_cells:
            for texts in written.read_texts(file, _options(options), max_columns=MAX_COLUMNS, rows=size):
                yield [dict(cells) for cells in texts]
            return
        if isinstance(written, RowFormat) and not written.has_names:
            stream = _by_position(written, file, kinds)
        else:
            read = _options(options)
            names = _table(written, file, {}, read).names
            stream = _table(written, file, {name: kinds.get(name, "category") for name in names}, read)
        for block in stream.blocks:
            for first in range(0, block_rows(block), size):
                last = min(first + size, block_rows(block))
                yield [raw_cells(block, row, stream.names) for row in range(first, last)]


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file; of a compressed one, those of a temporary file."""
    encoding = content_encoding_of(path)
    with path.open("rb") as opened:
        if encoding is None:
            yield opened
            return
        with TemporaryFile() as whole:
            decompressor = Decompressor(encoding, MAX_BYTES)
            while data := opened.read(PIECE):
                whole.writelines(decompressor.feed(data))
            decompressor.finish()
            yield whole


def _table(
    written: TableFormat, file: SpoolFile, declared: Mapping[str, ColumnKind], options: ReadOptions
) -> TableStream:
    limits = TableLimits(MAX_COLUMNS, MAX_ROWS, max_bytes=file.size, max_decoded_bytes=MAX_BYTES)
    return written.read_table(file, options, declared=declared, limits=limits)


def _options(options: RowOptions) -> ReadOptions:
    return ReadOptions(
        options.delimiter,
        options.decimal,
        options.has_header,
        options.sheet,
        options.thousands,
        options.date_format,
        None if options.missing_values is None else tuple(options.missing_values),
        options.encoding,
        options.skip_rows,
        forms=options.forms,
    )


def _by_position(written: RowFormat, file: SpoolFile, kinds: Mapping[str, ColumnKind]) -> TableStream:
    """Read rows whose columns are in the order of `kinds`."""
    expected = Expected(tuple(kinds.items()), None, frozenset(), max_rows=MAX_ROWS, max_bytes=file.size)
    read = written.read_rows(file.read(), ReadOptions(), expected, strict=True)
    refuse(read.cell_faults)
    return TableStream(tuple(kinds), tuple(kinds.values()), iter((read.block,)))
