"""Bodies as if they had come over the wire."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from app.datasets.uploads import read_until_consistent
from app.formats import TABLE_FORMATS, named
from app.formats.csv_stream import open_csv
from app.formats.format import ReadOptions, TableLimits
from app.formats.spool import SpoolFile
from app.formats.streams import TableStream
from relevance_bayes.records.datasets import ColumnReading
from relevance_bayes.records.values import Cell, ColumnKind
from relevance_bayes.tables.columns import block_rows
from relevance_bayes.tables.encoding import raw_cells
from relevance_bayes.tables.statistics import TableStatistics


@contextmanager
def spooled(content: bytes) -> Iterator[SpoolFile]:
    """A body on disk."""
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.flush()
        body = SpoolFile(file, 2**40)
        body.size = len(content)
        yield body


Table = tuple[dict[str, ColumnKind], list[list[Cell]]]


def table_of(stream: TableStream) -> Table:
    """Kinds by name, and all rows."""
    rows = [
        list(raw_cells(block, row, stream.names).values())
        for block in stream.blocks
        for row in range(block_rows(block))
    ]
    return dict(zip(stream.names, stream.kinds, strict=True)), rows


def digest_of(stream: TableStream) -> str:
    """The digest of a table."""
    statistics = TableStatistics(stream.names, stream.kinds)
    for block in stream.blocks:
        statistics.add(block)
    return statistics.digest()


def read_csv(
    content: bytes | str, options: ReadOptions | None = None, declared: Mapping[str, ColumnKind] | None = None
) -> Table:
    """A whole CSV file."""
    data = content.encode() if isinstance(content, str) else content
    return read_again(data, options or ReadOptions(), declared or {})[0]


def read_again(
    data: bytes, options: ReadOptions, declared: Mapping[str, ColumnKind]
) -> tuple[Table, Mapping[str, ColumnReading]]:
    """A whole CSV file, read until no row contradicts the kinds, with the readings of its columns."""
    with spooled(data) as file:

        def read(revised: Mapping[str, ColumnKind]) -> tuple[Table, Mapping[str, ColumnReading]]:
            stream = open_csv(file, replace(options, revised=revised), declared=declared, max_columns=10_000)
            return table_of(stream), stream.readings()

        return read_until_consistent(read)


def read_file(name: str, content: bytes) -> tuple[Table, Mapping[str, ColumnReading]]:
    """A whole file in a format, read until no row contradicts the kinds, with the readings of its columns."""
    with spooled(content) as file:

        def read(revised: Mapping[str, ColumnKind]) -> tuple[Table, Mapping[str, ColumnReading]]:
            options, limits = ReadOptions(revised=revised), TableLimits(10_000, 10**7, 2**30, max_decoded_bytes=2**30)
            stream = named(TABLE_FORMATS, name).read_table(file, options, declared={}, limits=limits)
            return table_of(stream), stream.readings()

        return read_until_consistent(read)
