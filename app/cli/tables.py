"""A file with rows to predict for, read as the service reads uploads, so that what trained a model also fits it."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from app.api.formats.csv import open_csv
from app.api.formats.json_table import json_stream
from app.api.formats.parquet import open_parquet
from app.api.formats.streams import TableStream
from app.domain.encoding import raw_cells
from app.domain.tables import Cell, ColumnKind, block_rows

Row = dict[str, Cell]


def batches(file: Path, kinds: Mapping[str, ColumnKind], *, size: int) -> Iterator[Sequence[Row]]:
    """At most `size` rows at a time, all columns; those in `kinds` are read as such, others as text.

    Raises RelevanceError where the file can't be read as what its name says, or a value is not of its kind.
    """
    found = open_table(file, {}).names
    others: dict[str, ColumnKind] = dict.fromkeys(found, "category")
    stream = open_table(file, others | {name: kind for name, kind in kinds.items() if name in others})
    for block in stream.blocks:
        for first in range(0, block_rows(block), size):
            last = min(first + size, block_rows(block))
            yield [raw_cells(block, row, stream.names) for row in range(first, last)]


def open_table(file: Path, declared: Mapping[str, ColumnKind]) -> TableStream:
    """The file as a stream of blocks."""
    raise NotImplementedError
