"""Rows and predictions as pyarrow's own module for Feather writes and reads them."""

import io
from collections.abc import Sequence

import pyarrow as pa
from pyarrow import feather

from tests.formats.samples.json import FlatRow


def written(rows: Sequence[FlatRow]) -> bytes:
    body = io.BytesIO()
    feather.write_feather(pa.Table.from_pylist([*map(dict, rows)]), body, compression="lz4", chunksize=2)
    return body.getvalue()


def read(content: bytes, names: Sequence[str]) -> list[FlatRow]:
    return table_of(content).to_pylist()


def table_of(content: bytes) -> pa.Table:
    return feather.read_table(io.BytesIO(content))
