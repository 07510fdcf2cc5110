"""Bodies as if they had come over the wire."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from app.formats.csv_stream import open_csv
from app.formats.options import ReadOptions
from app.formats.spool import SpoolFile
from app.formats.streams import TableStream
from relevance_bayes.tables.columns import block_rows
from relevance_bayes.tables.encoding import raw_cells
from relevance_bayes.tables.statistics import TableStatistics
from relevance_bayes.types.values import Cell, ColumnKind


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
    with spooled(data) as file:
        stream = open_csv(file, options or ReadOptions(), declared=declared or {}, max_columns=10_000)
        return table_of(stream)
