"""Rows and predictions as Parquet."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from tests.formats.samples.json import FlatRow


def written(rows: Sequence[FlatRow]) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist([*map(dict, rows)]), sink)
    return sink.getvalue().to_pybytes()


def read(content: bytes, names: Sequence[str]) -> list[FlatRow]:
    return table_of(content).to_pylist()


def table_of(content: bytes) -> pa.Table:
    return pq.read_table(pa.BufferReader(content))
