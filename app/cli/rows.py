"""The rows of a file to predict for, in any of the service's formats."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from app.formats import DEFAULT, TABLE_FORMATS, by_suffix
from app.formats.cell_faults import refuse
from app.formats.expected import Expected
from app.formats.format import RowFormat, TableFormat
from app.formats.options import ReadOptions, TableLimits
from app.formats.spool import SpoolFile
from app.formats.streams import TableStream
from relevance_bayes.cli.rows import Row
from relevance_bayes.tables.columns import block_rows
from relevance_bayes.tables.encoding import raw_cells
from relevance_bayes.types.values import ColumnKind

MAX_COLUMNS, MAX_ROWS = 100_000, 10**9


def batches(path: Path, kinds: Mapping[str, ColumnKind], *, size: int) -> Iterator[Sequence[Row]]:
    """Read at most `size` rows at a time, with all columns: those in `kinds` as such, others as strings.

    Raises RelevanceError where the file is malformed, or a value is not of its column's kind.
    """
    written = by_suffix(TABLE_FORMATS, path) or DEFAULT
    with path.open("rb") as opened:
        file = SpoolFile(opened, max_bytes=path.stat().st_size)
        file.size = path.stat().st_size
        if isinstance(written, RowFormat) and not written.has_names:
            stream = _by_position(written, file, kinds)
        else:
            names = _table(written, file, {}).names
            stream = _table(written, file, {name: kinds.get(name, "category") for name in names})
        for block in stream.blocks:
            for first in range(0, block_rows(block), size):
                last = min(first + size, block_rows(block))
                yield [raw_cells(block, row, stream.names) for row in range(first, last)]


def _table(written: TableFormat, file: SpoolFile, declared: Mapping[str, ColumnKind]) -> TableStream:
    limits = TableLimits(MAX_COLUMNS, MAX_ROWS, max_bytes=file.size)
    return written.read_table(file, ReadOptions(), declared=declared, limits=limits)


def _by_position(written: RowFormat, file: SpoolFile, kinds: Mapping[str, ColumnKind]) -> TableStream:
    """Read rows whose columns are in the order of `kinds`."""
    expected = Expected(tuple(kinds.items()), None, frozenset(), max_rows=MAX_ROWS, max_bytes=file.size)
    read = written.read_rows(file.read(), ReadOptions(), expected, strict=True)
    refuse(read.cell_faults)
    return TableStream(tuple(kinds), tuple(kinds.values()), iter((read.block,)))
