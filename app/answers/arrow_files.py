"""A table of predictions written by Arrow, whole: its own stream, CSV and Parquet."""

from typing import Literal

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

ArrowFormat = Literal["csv", "arrow", "parquet"]

BATCH = 65_536
"""Rows of one batch of a stream."""


def arrow_file(coded: ArrowFormat, table: pa.Table) -> bytes:
    """All of it in one file."""
    sink = pa.BufferOutputStream()
    match coded:
        case "csv":
            pacsv.write_csv(table, sink, pacsv.WriteOptions(quoting_style="needed"))
        case "parquet":
            pq.write_table(table, sink)
        case "arrow":
            with pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table, max_chunksize=BATCH)
    return sink.getvalue().to_pybytes()
