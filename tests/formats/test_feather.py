"""Feather: compressed buffers are unpacked as far as they may be, and the stream in the file is all that is read."""

import io
import struct
import zlib
from contextlib import suppress
from typing import Literal

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather

from app.errors import MalformedBodyError, TooLargeError
from app.formats.expected import Expected
from app.formats.feather_file import open_feather, read_feather
from relevance_bayes.types.errors import InvalidDataError, RelevanceError
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


def opened(content: bytes) -> Table:
    with spooled(content) as file:
        return table_of(open_feather(file, declared={}, max_columns=10))


@pytest.mark.parametrize("compression", ["lz4", "zstd", "uncompressed"])
def test_a_table_is_the_same_however_it_is_compressed(compression: Literal["lz4", "zstd", "uncompressed"]) -> None:
    kinds, rows = opened(written(TABLE, compression))
    assert kinds == {"x": "number", "c": "category", "b": "boolean"}
    assert rows == [[*row.values()] for row in TABLE.to_pylist()]
    block = read_feather(written(TABLE, compression), EXPECTED).block
    assert np.array_equal(block["x"].values, TABLE["x"].to_numpy(), equal_nan=True)  # type: ignore[union-attr]


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
    monkeypatch.setattr("app.formats.feather_file.MAX_BYTES_OF_A_BATCH", 1_500)
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
