"""Tables as Parquet files."""

import pyarrow as pa
import pyarrow.parquet as pq


def parquet_file(table: pa.Table) -> bytes:
    """Return a table as one file."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return sink.getvalue().to_pybytes()


class RowGroups:
    """A writer of each record batch as a row group."""

    def __init__(self, sink: pa.NativeFile, schema: pa.Schema) -> None:
        self._writer = pq.ParquetWriter(sink, schema)

    def write_batch(self, batch: pa.RecordBatch, /) -> None:
        """Write the next rows."""
        self._writer.write_batch(batch, row_group_size=max(1, batch.num_rows))

    def close(self) -> None:
        """Write the footer."""
        self._writer.close()
