"""A file of predictions in parts: one after the other they are the file, so that rows can be written as they are known.

What a part says depends on its rows alone, and on whether it is the first.
"""

from collections.abc import Iterator
from typing import Literal

import pyarrow as pa

PartsFormat = Literal["csv", "arrow"]

END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"

ENDS: dict[PartsFormat, bytes] = {"csv": b"", "arrow": END_OF_STREAM}
"""What stands behind the last part."""

ROWS_AT_ONCE = 16_384
"""Rows of a part of what is known whole."""


def part_of(coded: PartsFormat, table: pa.Table, *, is_first: bool) -> bytes:
    """The next rows of a file, behind its beginning where they are the first."""
    if coded == "csv":
        import pyarrow.csv as pacsv  # a part of Arrow that its own streams do without

        sink = pa.BufferOutputStream()
        options = pacsv.WriteOptions(include_header=is_first, quoting_style="needed")
        pacsv.write_csv(table, sink, options)
        return sink.getvalue().to_pybytes()
    batches = [batch.serialize().to_pybytes() for batch in table.combine_chunks().to_batches()]
    return b"".join([table.schema.serialize().to_pybytes() if is_first else b"", *batches])


def parts_of(coded: PartsFormat, table: pa.Table) -> Iterator[bytes]:
    """The parts of a file of all rows, the last with its end."""
    for first in range(0, max(table.num_rows, 1), ROWS_AT_ONCE):
        part = part_of(coded, table.slice(first, ROWS_AT_ONCE), is_first=first == 0)
        yield part if first + ROWS_AT_ONCE < table.num_rows else part + ENDS[coded]
