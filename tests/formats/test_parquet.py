"""Parquet: the file's own types, and files that are cut off or damaged."""

import io
from contextlib import suppress
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from app.errors import MalformedBodyError, TooLargeError
from app.formats import arrow_files
from app.formats.arrow_files import open_parquet, read_parquet
from app.formats.cells import Expected
from app.formats.format import TableLimits
from app.formats.streams import ReadAgainError
from relevance_bayes.records.datasets import ColumnReading
from relevance_bayes.records.errors import InvalidDataError, RelevanceError
from relevance_bayes.records.values import ColumnKind
from relevance_bayes.tables.kinds import ROWS_LOOKED_AT
from tests.formats.files import Table, spooled, table_of
from tests.formats.test_memory import measured


def written(table: pa.Table, row_group: int = 2) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, row_group_size=row_group)
    return sink.getvalue()


def read(
    content: bytes, declared: dict[str, ColumnKind] | None = None, max_rows: int = 10**6, max_decoded: int = 2**29
) -> Table:
    with spooled(content) as file:
        return table_of(
            open_parquet(file, declared=declared or {}, limits=TableLimits(50, max_rows, 10**8, max_decoded))
        )


MOMENT = datetime(2024, 5, 1, 12, 30, 0, 250000, tzinfo=UTC).replace(tzinfo=None)


@pytest.mark.parametrize(
    ("column", "kind", "cells"),
    [
        (pa.array([1, None, 3], pa.int64()), "number", [1.0, None, 3.0]),
        (pa.array([1, None, 3], pa.uint8()), "number", [1.0, None, 3.0]),
        (pa.array([2**60, 1, None], pa.int64()), "category", [str(2**60), "1", None]),
        (pa.array([2**64 - 1, 1], pa.uint64()), "category", [str(2**64 - 1), "1"]),
        (pa.array([1e308, None, 1e-308], pa.float64()), "number", [1e308, None, 1e-308]),
        (pa.array([1.5, None], pa.float32()), "number", [1.5, None]),
        (pa.array([Decimal("1.50"), None]), "number", [1.5, None]),
        (pa.array([True, None, False]), "boolean", [True, None, False]),
        (pa.array(["a", None, "1"]), "category", ["a", None, "1"]),
        (pa.array(["a", None, "a"], pa.large_string()), "category", ["a", None, "a"]),
        (pa.array(["a", None, "a"]).dictionary_encode(), "category", ["a", None, "a"]),
        (pa.array(["2024-05-01", None]), "timestamp", ["2024-05-01T00:00:00Z", None]),
        (pa.array([MOMENT, None], pa.timestamp("us")), "timestamp", ["2024-05-01T12:30:00.25Z", None]),
        (pa.array([MOMENT, None], pa.timestamp("ns")), "timestamp", ["2024-05-01T12:30:00.25Z", None]),
        (
            pa.array([MOMENT.replace(tzinfo=UTC)], pa.timestamp("ms", "Europe/Berlin")),
            "timestamp",
            ["2024-05-01T12:30:00.25Z"],
        ),
        (pa.array([date(1950, 1, 2), None]), "timestamp", ["1950-01-02T00:00:00Z", None]),
        (pa.nulls(2), "number", [None, None]),
    ],
)
def test_each_type_is_read(column: pa.Array, kind: ColumnKind, cells: list[object]) -> None:  # type: ignore[type-arg]
    assert read(written(pa.table({"x": column}))) == ({"x": kind}, [[cell] for cell in cells])


def test_declared_kinds_go_before_the_types() -> None:
    content = written(pa.table({"n": [1, 0], "t": pa.array([MOMENT, None], pa.timestamp("us"))}))
    kinds, rows = read(content, {"n": "category", "t": "category"})
    assert kinds == {"n": "category", "t": "category"}
    assert rows == [["1", "2024-05-01T12:30:00.25Z"], ["0", None]]


@pytest.mark.parametrize(
    ("column", "row", "reported"),
    [
        (pa.array([1.0, np.nan]), 1, "nan is not a finite number"),
        (pa.array([1.0, None, np.inf]), 2, "inf is not a finite number"),
        (pa.array([0, 2**50], pa.timestamp("s")), 1, "not in the years 1 to 9999"),
        (pa.array(["a", "b\0"]), 1, "NUL"),
        (pa.array([[1], [2]]), None, "list<"),
        (pa.array([b"a"]), None, "binary"),
    ],
)
def test_what_can_not_be_read_is_refused_with_its_place(column: pa.Array, row: int | None, reported: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(InvalidDataError) as refused:
        read(written(pa.table({"x": column})))
    (fault,) = refused.value.faults
    assert (fault.row, fault.column) == (row, "x")
    assert reported in fault.detail


def test_text_that_is_not_utf_8_is_refused() -> None:
    latin = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xe9"], pa.binary()).buffers())
    with pytest.raises(MalformedBodyError, match="UTF8"):
        read(written(pa.table({"x": latin})))


def test_a_name_that_is_not_utf_8_is_refused() -> None:
    content = written(pa.table({"a long name": [1.0, 2.0]}))
    assert b"a long name" in content
    with pytest.raises(MalformedBodyError, match="as Parquet"):
        read(content.replace(b"a long name", b"a \xf1ong name"))


def test_no_rows_and_too_many_are_refused() -> None:
    content = written(pa.table({"x": [1.0, 2.0, 3.0]}))
    with pytest.raises(InvalidDataError, match="no rows"):
        read(written(pa.table({"x": pa.array([], pa.float64())})))
    with pytest.raises(TooLargeError, match="got 3"):
        read(content, max_rows=2)


def test_a_file_cut_off_or_damaged_anywhere_is_refused_and_never_anything_else() -> None:
    content = written(pa.table({"x": np.arange(500.0), "c": ["a", "b"] * 250}), row_group=100)
    for end in range(0, len(content), 97):
        with pytest.raises(MalformedBodyError, match="truncated"):
            read(content[:end])
    for place in range(0, len(content), 41):
        damaged = content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :]
        with suppress(RelevanceError):
            read(damaged)


def test_an_index_of_pandas_without_a_name_is_no_column() -> None:
    frame = pd.DataFrame({"a": [1, 2, 3, 4], "y": [4.5, 5.5, 6.5, 7.5]})
    for one in (
        frame[frame["a"] != 2],
        frame.sample(frac=1.0, random_state=3),
        frame.set_axis([[1, 1, 2, 2], [1, 2, 1, 2]]),
    ):
        kinds, rows = read(written(pa.Table.from_pandas(one)))
        assert kinds == {"a": "number", "y": "number"}
        assert rows == one.astype(float).to_numpy().tolist()
    body = written(pa.Table.from_pandas(frame[frame["a"] != 2]))
    expected = Expected((("a", "number"), ("y", "number")), None, frozenset(), 10, 10**6)
    assert read_parquet(body, expected).cell_faults == ()


def test_a_named_index_of_pandas_is_kept_and_marked() -> None:
    frame = pd.DataFrame({"a": [1, 2], "y": [3, 4]}, index=pd.Index(["p", "q"], name="key"))
    with spooled(written(pa.Table.from_pandas(frame))) as file:
        stream = open_parquet(file, declared={}, limits=TableLimits(10, 10, 10**8, 10**8))
        assert table_of(stream) == (
            {"a": "number", "y": "number", "key": "category"},
            [[1.0, 3.0, "p"], [2.0, 4.0, "q"]],
        )
        assert stream.readings() == {"key": ColumnReading(is_index=True)}


def test_decimals_beyond_2_to_53_keep_their_digits() -> None:
    long = [Decimal("9007199254740993"), None, Decimal("12345678901234567890")]
    kinds, rows = read(written(pa.table({"id": pa.array(long, pa.decimal128(20, 0)), "y": [1, 2, 3]})))
    assert kinds == {"id": "category", "y": "number"}
    assert [row[0] for row in rows] == ["9007199254740993", None, "12345678901234567890"]
    small = pa.table({"x": pa.array([Decimal("1.50"), Decimal("-2.25")], pa.decimal128(9, 2))})
    assert read(written(small)) == ({"x": "number"}, [[1.5], [-2.25]])


@pytest.mark.parametrize("before", [ROWS_LOOKED_AT, 600_000])
@pytest.mark.parametrize("late", [2**60 + 1, Decimal(2**60 + 1)])
def test_a_late_long_integer_is_to_be_read_again_as_text(before: int, late: int | Decimal) -> None:
    kind = pa.int64() if isinstance(late, int) else pa.decimal128(20, 0)
    table = pa.table({"x": pa.array([type(late)(7)] * before + [late], kind)})
    with spooled(written(table, row_group=10**5)) as file:
        stream = open_parquet(file, declared={}, limits=TableLimits(10, 10**6, 10**8, 10**8))
        with pytest.raises(ReadAgainError) as again:
            list(stream.blocks)
    assert again.value.kinds == {"x": "category"}


def test_nanoseconds_as_integers_are_numbers() -> None:
    stamps = [1_700_000_000_123_456_000 + 60 * 10**9 * n for n in range(3)]
    assert read(written(pa.table({"t": stamps})))[1] == [[float(stamp)] for stamp in stamps]


def test_the_year_10000_is_refused() -> None:
    for unit, ticks in (("s", 1), ("ms", 10**3), ("us", 10**6)):
        table = pa.table({"t": pa.array([253_402_300_800 * ticks], pa.int64()).cast(pa.timestamp(unit))})
        with pytest.raises(InvalidDataError, match="not in the years 1 to 9999"):
            read(written(table))


LONG = "x" * 100_000
TEXTS = pa.table({"t": pa.array([LONG, "y"] * 100), "n": list(range(200))})
LETTERS = 100 * (len(LONG) + 1)
OTHERS = 2 * 200 * (8 + 4)
"""More than the bytes of the numbers, of the positions of texts in a dictionary, and of what is missing."""


def encoded(encoding: str) -> bytes:
    """Return the table of texts; it takes a few kilobytes, however it is encoded."""
    sink = io.BytesIO()
    if encoding == "RLE_DICTIONARY":
        pq.write_table(TEXTS, sink, compression="zstd", row_group_size=50)
    else:
        encodings = {"t": encoding, "n": "PLAIN"}
        pq.write_table(
            TEXTS, sink, compression="zstd", use_dictionary=False, column_encoding=encodings, row_group_size=50
        )
    return sink.getvalue()


@pytest.mark.parametrize("encoding", ["RLE_DICTIONARY", "PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"])
def test_the_bytes_of_texts_are_bounded_once_they_are_decoded(encoding: str) -> None:
    content = encoded(encoding)
    assert len(content) < 20_000
    kinds, rows = read(content, max_decoded=LETTERS + OTHERS)
    assert kinds == {"t": "category", "n": "number"}
    assert [row[0] for row in rows] == [LONG, "y"] * 100
    with pytest.raises(TooLargeError, match="once decoded"):
        read(content, max_decoded=LETTERS - 1)


def test_a_size_of_pages_that_a_file_claims_is_refused_before_they_are_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(arrow_files, "joined_batches")
    with pytest.raises(TooLargeError, match="once decoded"):
        read(encoded("PLAIN"), max_decoded=LETTERS // 2)


MEASURE = """
import io, os, sys
import pyarrow as pa
import pyarrow.parquet as pq
from app.formats.format import TableLimits
from app.formats.arrow_files import open_parquet
from app.formats.spool import SpoolFile
from app.malloc import release_memory, tune_malloc

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 2**20

def read(path):
    with open(path, "rb") as file:
        body = SpoolFile(file, 2**40)
        body.size = os.fstat(file.fileno()).st_size
        table = open_parquet(body, declared={}, limits=TableLimits(100, 10**6, 2**25, 2**29))
        return sum(len(block["t"].codes) for block in table.blocks)

tune_malloc()
read(sys.argv[1])
idle = resident()
rows = read(sys.argv[2])
print(rows, resident() - idle)
release_memory()
print(resident() - idle)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
def test_memory_of_a_file_of_texts_is_small_and_returned(tmp_path: Path) -> None:
    path = tmp_path / "texts.parquet"
    texts = pa.array([f"{n}{LONG[1:]}" for n in range(10)]).take(pa.array([n % 10 for n in range(4_000)]))
    pq.write_table(pa.table({"t": texts}), path, compression="zstd", row_group_size=500)
    small = tmp_path / "small.parquet"
    pq.write_table(pa.table({"t": texts.slice(0, 1)}), small)
    rows, used, kept = measured(MEASURE, str(small), str(path))
    assert rows == 4_000
    assert used < 150
    assert kept < 50
