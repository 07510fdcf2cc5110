"""Rows and predictions as Arrow's stream."""

from collections.abc import Sequence

import pyarrow as pa

from tests.formats.samples.json import FlatRow


def written(rows: Sequence[FlatRow]) -> bytes:
    return arrow_stream(pa.Table.from_pylist([*map(dict, rows)]))


def arrow_stream(table: pa.Table, options: pa.ipc.IpcWriteOptions | None = None) -> bytes:
    """A table in Arrow's own format."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=2)
    return sink.getvalue().to_pybytes()


def read(content: bytes, names: Sequence[str]) -> list[FlatRow]:
    return table_of(content).to_pylist()


def table_of(content: bytes) -> pa.Table:
    return pa.ipc.open_stream(content).read_all()
