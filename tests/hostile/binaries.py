"""Files in binary formats, of many types and encodings each, that are accepted as they are."""

import gzip
import io
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from backports import zstd
from PIL import Image
from pyarrow import feather

from tests.table_files import MEDIA_TYPES, arrow_stream, npy, written

NPY, PNG, CSV = MEDIA_TYPES["npy"], MEDIA_TYPES["png"], MEDIA_TYPES["csv"]
UPLOAD, NUMBERS, MIXED = "/v1/datasets", "/v1/models/numbers/predict", "/v1/models/mixed/predict"
ROWS = 12
UNITS: tuple[Literal["s", "ms", "us"], ...] = ("s", "ms", "us")


@dataclass(frozen=True)
class Body:
    """A request's path and body, its media type, and what it is packed with."""

    path: str
    media_type: str
    content: bytes
    encoding: str = ""

    @property
    def headers(self) -> Mapping[str, str]:
        """The header fields that state what the body is."""
        packed = {"Content-Encoding": self.encoding} if self.encoding else {}
        return {"Content-Type": self.media_type, "Accept": "application/json", **packed}


def bodies() -> Iterator[tuple[str, Body]]:
    """Yield each body with its name."""
    tables = {"numbers": numbers(), "texts": mixed(), "types": types_of_columns(), "gaps": gaps()}
    requests = [*((UPLOAD, name, table) for name, table in tables.items()), (NUMBERS, NUMBERS, numbers())]
    for path, name, table in [*requests, (MIXED, MIXED, mixed())]:
        for coded, way, content in files(table):
            yield f"{coded}, {name}, {way}", Body(path, MEDIA_TYPES[coded], content)
    for name, content in arrays():
        yield f"npy, {name}", Body(UPLOAD, NPY, content)
        yield f"npy, {name}, prediction", Body(NUMBERS, NPY, content)
    for mode in ("1", "L", "P", "RGB", "RGBA", "I;16"):
        yield f"png, {mode}", Body(UPLOAD, PNG, png(mode))
    for path in (UPLOAD, NUMBERS):
        for encoding, content in packed():
            yield f"{encoding}, {path}", Body(path, CSV, content, encoding)


def numbers() -> pa.Table:
    """The columns of the model of numbers."""
    rng = np.random.default_rng(1)
    return pa.table({name: rng.standard_normal(ROWS) for name in "abcde"})


def mixed() -> pa.Table:
    """The columns of the model that reads a text too, one of them by codes."""
    colours = pa.array(["red", "blue"] * (ROWS // 2))
    return pa.table({"x": np.linspace(-1.0, 3.0, ROWS), "colour": colours.dictionary_encode()})


def types_of_columns() -> pa.Table:
    """A column of each type that a table may have."""
    counts, reals = np.arange(ROWS), np.linspace(-1.0, 1.0, ROWS)
    kinds = (pa.int8(), pa.uint8(), pa.int16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64())
    moments = pa.array([datetime(2024, 5, day, tzinfo=UTC) for day in range(1, ROWS + 1)])
    texts = pa.array([f"t{count}" for count in counts])
    table = pa.table({str(kind): pa.array(counts, kind) for kind in kinds})
    table = table.append_column("float", pa.array(reals.astype(np.float32))).append_column("double", pa.array(reals))
    table = table.append_column("bool", pa.array(counts % 2 == 0)).append_column("text", texts)
    table = table.append_column("large text", texts.cast(pa.large_string()))
    table = table.append_column("date", moments.cast(pa.date32()))
    for unit in UNITS:
        table = table.append_column(unit, moments.cast(pa.timestamp(unit, "UTC")))
    return table


def gaps() -> pa.Table:
    """Columns with missing values."""
    return pa.table({"x": [1.0, None] * 6, "flag": [True, None, False] * 4, "text": ["a", None, "bc", ""] * 3})


def files(table: pa.Table) -> Iterator[tuple[str, str, bytes]]:
    """Yield a table in each binary format of tables, written in several ways."""
    yield "arrow", "stream", arrow_stream(table)
    ways: Mapping[str, Callable[[pa.Table, pa.BufferOutputStream], None]] = {
        "plain": partial(pq.write_table, compression="none", use_dictionary=False),
        "snappy": partial(pq.write_table, compression="snappy", row_group_size=5),
        "gzip": partial(pq.write_table, compression="gzip", data_page_version="2.0"),
        "zstd": partial(pq.write_table, compression="zstd", version="1.0"),
        "without statistics": partial(pq.write_table, write_statistics=False, store_schema=False),
    }
    for name, write in ways.items():
        sink = pa.BufferOutputStream()
        write(table, sink)
        yield "parquet", name, sink.getvalue().to_pybytes()
    for compression in ("lz4", "zstd", "uncompressed"):
        body = io.BytesIO()
        feather.write_feather(table, body, compression=compression)
        yield "feather", compression, body.getvalue()
    if not any(pa.types.is_temporal(kind) for kind in table.schema.types):
        yield "xlsx", "inline texts", written("xlsx", table.to_pylist())


def arrays() -> Iterator[tuple[str, bytes]]:
    """Yield matrices of five columns, in several types and orders."""
    matrix = np.arange(30.0).reshape(6, 5)
    for code in ("<f8", ">f8", "<f4", "<f2", "<i8", "|u1", ">i4"):
        yield code, npy(matrix.astype(code))
    yield "by column", npy(np.asfortranarray(matrix))
    for version in ((2, 0), (3, 0)):
        sink = io.BytesIO()
        np.lib.format.write_array(sink, matrix, version=version)
        yield f"version {version[0]}", sink.getvalue()


def png(mode: str) -> bytes:
    """An image of 9 by 7 pixels."""
    levels = np.arange(63).reshape(7, 9)
    shape = Image.fromarray((levels * 4).astype(np.uint8))
    image = Image.fromarray((levels * 1000).astype(np.uint16)) if mode == "I;16" else shape.convert(mode)
    sink = io.BytesIO()
    image.save(sink, "PNG")
    return sink.getvalue()


def packed() -> Iterator[tuple[str, bytes]]:
    """Yield a table of CSV in each packing."""
    lines = [",".join(str(value) for value in row) for row in np.arange(2_000.0).reshape(-1, 5).tolist()]
    content = "\n".join(["a,b,c,d,e", *lines, ""]).encode()
    yield "gzip", gzip.compress(content)
    yield "deflate", zlib.compress(content)
    yield "zstd", zstd.compress(content)


REFUSED: Mapping[str, Body] = {
    "a packing that is not read": Body(UPLOAD, CSV, b"\x0b\x02\x80a\n1\n\x03", "br"),
}
"""Bodies that are refused as they are."""
