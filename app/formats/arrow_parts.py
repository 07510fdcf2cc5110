"""Tables as sequences of parts: CSV, and Arrow's stream format."""

from collections.abc import Iterator
from typing import Protocol

import pyarrow as pa

END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"

ROWS_AT_ONCE = 16_384
"""The number of rows of a part of a table in memory."""


def csv_part(table: pa.Table, *, is_first: bool) -> bytes:
    """Return lines of CSV, after the header if they are the first."""
    import pyarrow.csv as pacsv  # imported here: Arrow's stream format does without it

    sink = pa.BufferOutputStream()
    options = pacsv.WriteOptions(include_header=is_first, quoting_style="needed")
    pacsv.write_csv(table, sink, options)
    return sink.getvalue().to_pybytes()


def stream_part(table: pa.Table, *, is_first: bool) -> bytes:
    """Return record batches, after the schema if they are the first."""
    batches = [batch.serialize().to_pybytes() for batch in table.combine_chunks().to_batches()]
    return b"".join([table.schema.serialize().to_pybytes() if is_first else b"", *batches])


class WritePart(Protocol):
    """A function that writes some rows of a table."""

    def __call__(self, table: pa.Table, /, *, is_first: bool) -> bytes:
        """Return the rows, after the file's beginning if they are the first."""


def parts_of(table: pa.Table, part: WritePart, end: bytes) -> Iterator[bytes]:
    """Yield the parts of a file of all rows, and its end."""
    for first in range(0, max(table.num_rows, 1), ROWS_AT_ONCE):
        made = part(table.slice(first, ROWS_AT_ONCE), is_first=first == 0)
        yield made if first + ROWS_AT_ONCE < table.num_rows else made + end
