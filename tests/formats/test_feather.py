"""Feather: compressed buffers are unpacked as far as they may be, and the stream in the file is all that is read."""

import io
import struct
import zlib
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Literal

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather

from app.errors import MalformedBodyError, TooLargeError
from app.formats.arrow_files import open_feather, read_feather
from app.formats.cells import Expected
from app.formats.format import ReadOptions, TableLimits
from app.formats.media_types import Arrow
from relevance_bayes.records.errors import InvalidDataError, RelevanceError
from tests.formats.files import Table, spooled, table_of
from tests.table_files import arrow_stream

ROWS = 1_000
TABLE = pa.table(
    {
        "x": [None, *np.linspace(0.0, 1.0, ROWS - 1).tolist()],
        "c": pa.array(["red", "blue"] * (ROWS // 2)).dictionary_encode(),
        "b": [True, None] * (ROWS // 2),
    }
)
EXPECTED = Expected((("x", "number"), ("c", "category"), ("b", "boolean")), None, frozenset(), 2_000, 10**6)


def written(table: pa.Table, compression: Literal["lz4", "zstd", "uncompressed"] = "lz4") -> bytes:
    body = io.BytesIO()
    feather.write_feather(table, body, compression=compression, chunksize=300)
    return body.getvalue()


def opened(content: bytes, max_decoded: int = 2**29) -> Table:
    with spooled(content) as file:
        return table_of(open_feather(file, declared={}, limits=TableLimits(10, 10_000, 10**6, max_decoded)))


@pytest.mark.parametrize("compression", ["lz4", "zstd", "uncompressed"])
def test_a_table_is_the_same_however_it_is_compressed(compression: Literal["lz4", "zstd", "uncompressed"]) -> None:
    kinds, rows = opened(written(TABLE, compression))
    assert kinds == {"x": "number", "c": "category", "b": "boolean"}
    assert rows == [[*row.values()] for row in TABLE.to_pylist()]
    block = read_feather(written(TABLE, compression), EXPECTED).block
    assert np.array_equal(block["x"].values, TABLE["x"].to_numpy(), equal_nan=True)  # type: ignore[union-attr]


@pytest.mark.parametrize("compression", ["lz4", "zstd", "uncompressed"])
def test_a_schema_without_its_size_is_read(compression: Literal["lz4", "zstd", "uncompressed"]) -> None:
    """As polars writes it from version 1.44 on."""
    content = written(TABLE, compression)
    without = content[:8] + content[16:]
    assert opened(without) == opened(content)
    np.testing.assert_array_equal(
        read_feather(without, EXPECTED).block["x"].values,  # type: ignore[union-attr]
        read_feather(content, EXPECTED).block["x"].values,  # type: ignore[union-attr]
    )


@pytest.mark.thorough
def test_a_damaged_schema_without_its_size_is_refused() -> None:
    content = written(TABLE)
    for place in range(8, 200):
        for value in (0, 1, 127, 255):
            damaged = bytearray(content[:8] + content[16:])
            damaged[place] = value
            with suppress(RelevanceError):
                opened(bytes(damaged))
    with pytest.raises(MalformedBodyError, match="its schema has no end"):
        opened(content[:8] + bytes(64) + content[-6:])


@pytest.mark.skipif(find_spec("polars") is None, reason="needs polars")
def test_files_of_polars_are_read_unless_categories_follow_their_rows() -> None:
    polars = import_module("polars")
    frame = polars.DataFrame({"x": [1.0, None, 2.5] * 100, "t": ["a", "b" * 20, None] * 100, "b": [True, None] * 150})
    for compression in ("uncompressed", "lz4", "zstd"):
        body = io.BytesIO()
        frame.write_ipc(body, compression=compression)
        kinds, rows = opened(body.getvalue())
        assert kinds == {"x": "number", "t": "category", "b": "boolean"}
        assert [tuple(row) for row in rows] == frame.rows()
    body = io.BytesIO()
    frame.with_columns(polars.col("t").cast(polars.Categorical)).write_ipc(body)
    with pytest.raises(MalformedBodyError, match="its categories after the rows"):
        opened(body.getvalue())


def test_a_file_is_read_under_the_type_of_a_stream() -> None:
    """Both are called .arrow."""
    content = written(TABLE)
    with spooled(content) as file:
        limits = TableLimits(10, 10_000, 10**6, 10**8)
        stream = Arrow().read_table(file, ReadOptions(), declared={}, limits=limits)
        assert table_of(stream) == opened(content)
    assert Arrow().read_rows(content, ReadOptions(), EXPECTED, strict=True).cell_faults == ()


def test_pandas_file_is_read_too() -> None:
    """Which is what Arrow's module for Feather writes of a data frame: metadata, and LZ4."""
    table = TABLE.replace_schema_metadata({"pandas": "{}"})
    assert opened(written(table)) == opened(written(TABLE))


def test_a_stream_of_that_type_is_read_by_the_rules_of_streams() -> None:
    """Many clients send it for a file called .arrow, whichever of both that is."""
    assert opened(arrow_stream(TABLE)) == opened(written(TABLE))
    assert read_feather(arrow_stream(TABLE), EXPECTED).cell_faults == ()
    with pytest.raises(InvalidDataError, match="compressed buffers"):
        opened(arrow_stream(TABLE, pa.ipc.IpcWriteOptions(compression="zstd")))


def test_a_batch_that_unpacks_to_too_much_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    zeros = written(pa.table({"x": np.zeros(200)}))
    assert len(zeros) < 1_000
    monkeypatch.setattr("app.formats.arrow_files.MAX_BYTES_OF_A_BATCH", 1_500)
    with pytest.raises(TooLargeError, match="at most 1,500 bytes once decompressed"):
        opened(zeros)
    monkeypatch.undo()
    expected = Expected((("x", "number"),), None, frozenset(), max_rows=10**6, max_bytes=1_500)
    with pytest.raises(TooLargeError, match="at most 1,500 bytes once decompressed"):
        read_feather(zeros, expected)


def test_a_buffer_that_claims_gigabytes_is_refused_unread() -> None:
    content = written(pa.table({"x": np.arange(1_000.0)}))
    size = struct.pack("<q", 8 * 300)
    assert size in content
    with pytest.raises(TooLargeError):
        opened(content.replace(size, struct.pack("<q", 2**40)))


def test_what_claims_another_size_than_it_has_is_refused() -> None:
    content = written(pa.table({"x": np.arange(1_000.0)}))
    with pytest.raises(MalformedBodyError):
        opened(content.replace(struct.pack("<q", 8 * 300), struct.pack("<q", 8 * 200)))


@pytest.mark.parametrize(
    ("content", "given"),
    [
        (b"", "truncated"),
        (b"ARROW1\0\0", "truncated"),
        (written(TABLE)[:-6], "truncated"),
        (written(TABLE)[:500] + b"ARROW1", "as Feather"),
        (b"ARROW1\0\0" + b"\xff" * 64 + b"ARROW1", "as Feather"),
        (b"FEA1" + bytes(60) + b"FEA1", "version 1"),
        (b"x,y\n1,2\n", "as Feather"),
    ],
)
def test_what_is_no_feather_is_refused(content: bytes, given: str) -> None:
    with pytest.raises(MalformedBodyError, match=given):
        opened(content)
    with pytest.raises(MalformedBodyError, match=given):
        read_feather(content, EXPECTED)


def test_types_that_can_not_be_read_are_named() -> None:
    with pytest.raises(InvalidDataError) as refused:
        opened(written(pa.table({"x": [1.0], "l": [[1]]})))
    assert [fault.column for fault in refused.value.faults] == ["l"]


def test_a_spoiled_file_is_read_or_refused() -> None:
    """Every byte in turn, flipped to another."""
    content = written(TABLE.slice(0, 8))
    read = 0
    for place in range(len(content)):
        spoiled = bytearray(content)
        spoiled[place] ^= (zlib.crc32(place.to_bytes(4, "little")) % 255) + 1
        with suppress(RelevanceError):
            opened(bytes(spoiled))
            read += 1
    assert 0 < read < len(content)


@pytest.mark.parametrize("compression", ["lz4", "zstd", "uncompressed"])
def test_the_bytes_of_a_table_are_bounded_once_they_are_decoded(
    compression: Literal["lz4", "zstd", "uncompressed"],
) -> None:
    texts = pa.array(["x" * 100_000]).take(pa.array([0] * 200))
    with pytest.raises(TooLargeError, match="once decoded"):
        opened(written(pa.table({"t": texts}), compression), max_decoded=10**7)
    with pytest.raises(TooLargeError, match="once decoded"):
        opened(written(pa.table({"t": texts.dictionary_encode()}), compression), max_decoded=10**7)
