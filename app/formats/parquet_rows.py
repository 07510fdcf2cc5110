"""Rows to predict for in a Parquet file."""

import pyarrow as pa
import pyarrow.parquet as pq

from app.formats.arrow_blocks import reading
from app.formats.arrow_rows import rows_of
from app.formats.expected import Expected, ReadRows

BATCH = 65_536


def read_parquet(body: bytes, expected: Expected) -> ReadRows:
    """Read the rows of a Parquet file; raises as `read_arrow` does."""
    with reading("body", "Parquet"):
        parquet = pq.ParquetFile(pa.BufferReader(body))
        schema, about = parquet.schema_arrow, parquet.metadata
        columns = expected.among(schema.names)
        expected.check_rows(about.num_rows)
        groups = [about.row_group(number) for number in range(about.num_row_groups)]
        expected.check_bytes(sum(group.total_byte_size for group in groups))
        # As dictionaries, because a long text may occur in all rows.
        texts = [name for name, kind in columns if kind == "category" and pa.types.is_string(schema.field(name).type)]
        parquet = pq.ParquetFile(pa.BufferReader(body), read_dictionary=texts)
        batches = parquet.iter_batches(batch_size=BATCH, use_threads=False, columns=[name for name, _ in columns])
        return rows_of(parquet.schema_arrow, batches, columns, expected)
