"""A file with rows to predict for, read as the service reads uploads, so that what trained a model also fits it."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from app.api.formats.arrow_stream import open_arrow
from app.api.formats.csv_dialect import CsvOptions
from app.api.formats.csv_stream import open_csv
from app.api.formats.expected import Expected
from app.api.formats.json_table import json_stream
from app.api.formats.line_stream import open_lines
from app.api.formats.misfits import refuse
from app.api.formats.npy_rows import read_npy
from app.api.formats.parquet_stream import open_parquet
from app.api.formats.spool import SpoolFile
from app.api.formats.streams import TableStream
from app.domain.encoding import raw_cells
from app.domain.tables import Cell, ColumnKind, block_rows

Row = dict[str, Cell]

MOST_COLUMNS, MOST_ROWS = 100_000, 10**9


def batches(path: Path, kinds: Mapping[str, ColumnKind], *, size: int) -> Iterator[Sequence[Row]]:
    """At most `size` rows at a time, all columns: those in `kinds` are read as such, others as the texts they are.

    Raises RelevanceError where the file can't be read as what its name says, or a value is not of its kind.
    """
    with path.open("rb") as opened:
        file = SpoolFile(opened, most_bytes=path.stat().st_size)
        file.size = path.stat().st_size
        if path.suffix.lower() == ".npy":
            stream = _open_npy(path, kinds)
        else:
            names = _open(file, path, {}).names
            stream = _open(file, path, {name: kinds.get(name, "category") for name in names})
        for block in stream.blocks:
            for first in range(0, block_rows(block), size):
                last = min(first + size, block_rows(block))
                yield [raw_cells(block, row, stream.names) for row in range(first, last)]


def _open(file: SpoolFile, path: Path, declared: Mapping[str, ColumnKind]) -> TableStream:
    match path.suffix.lower():
        case ".parquet":
            return open_parquet(file, declared=declared, most_columns=MOST_COLUMNS, most_rows=MOST_ROWS)
        case ".json":
            return json_stream(path.read_bytes(), declared=declared, most_columns=MOST_COLUMNS)
        case ".arrow" | ".arrows":
            return open_arrow(file, declared=declared, most_columns=MOST_COLUMNS)
        case ".ndjson" | ".jsonl":
            return open_lines(file, declared=declared, most_columns=MOST_COLUMNS, most_bytes=file.size)
        case _:
            return open_csv(file, CsvOptions(), declared=declared, most_columns=MOST_COLUMNS)


def _open_npy(path: Path, kinds: Mapping[str, ColumnKind]) -> TableStream:
    """A matrix, its columns in the order of `kinds`."""
    body = path.read_bytes()
    expected = Expected(tuple(kinds.items()), None, frozenset(), most_rows=MOST_ROWS, most_bytes=len(body))
    read = read_npy(body, expected)
    refuse(read.misfits)
    return TableStream(tuple(kinds), tuple(kinds.values()), iter((read.block,)))
