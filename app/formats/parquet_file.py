"""Tables as Parquet files."""

import pyarrow as pa
import pyarrow.parquet as pq


def parquet_file(table: pa.Table) -> bytes:
    """All of it in one file."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return sink.getvalue().to_pybytes()


class RowGroups:
    """Writes each record batch as a row group of its own."""

    def __init__(self, sink: pa.NativeFile, schema: pa.Schema) -> None:
        self._writer = pq.ParquetWriter(sink, schema)

    def write_batch(self, batch: pa.RecordBatch, /) -> None:
        """The next rows."""
        self._writer.write_batch(batch, row_group_size=max(1, batch.num_rows))

    def close(self) -> None:
        """The end of the file."""
        self._writer.close()
