"""Tables as files of parts: CSV, and Arrow's stream of record batches."""

from collections.abc import Iterator
from typing import Protocol

import pyarrow as pa

END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"

ROWS_AT_ONCE = 16_384
"""Rows of a part of what is known whole."""


def csv_part(table: pa.Table, *, is_first: bool) -> bytes:
    """Lines of CSV, behind the names where they are the first."""
    import pyarrow.csv as pacsv  # a part of Arrow that its own streams do without

    sink = pa.BufferOutputStream()
    options = pacsv.WriteOptions(include_header=is_first, quoting_style="needed")
    pacsv.write_csv(table, sink, options)
    return sink.getvalue().to_pybytes()


def stream_part(table: pa.Table, *, is_first: bool) -> bytes:
    """Record batches, behind the schema where they are the first."""
    batches = [batch.serialize().to_pybytes() for batch in table.combine_chunks().to_batches()]
    return b"".join([table.schema.serialize().to_pybytes() if is_first else b"", *batches])


class WritePart(Protocol):
    """Writes some rows of a table."""

    def __call__(self, table: pa.Table, /, *, is_first: bool) -> bytes:
        """The rows, behind the file's beginning where they are the first."""


def parts_of(table: pa.Table, part: WritePart, end: bytes) -> Iterator[bytes]:
    """The parts of a file of all rows, the last with its end."""
    for first in range(0, max(table.num_rows, 1), ROWS_AT_ONCE):
        made = part(table.slice(first, ROWS_AT_ONCE), is_first=first == 0)
        yield made if first + ROWS_AT_ONCE < table.num_rows else made + end
