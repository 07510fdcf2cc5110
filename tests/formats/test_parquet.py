"""Parquet: the file's own types, and files that are cut off or damaged."""

import io
from contextlib import suppress
from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from app.errors import MalformedBodyError, TooLargeError
from app.formats.parquet_file import open_parquet
from relevance_bayes.types.errors import InvalidDataError, RelevanceError
from relevance_bayes.types.values import ColumnKind
from tests.formats.files import Table, spooled, table_of


def written(table: pa.Table, row_group: int = 2) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, row_group_size=row_group)
    return sink.getvalue()


def read(content: bytes, declared: dict[str, ColumnKind] | None = None, max_rows: int = 10**6) -> Table:
    with spooled(content) as file:
        return table_of(open_parquet(file, declared=declared or {}, max_columns=50, max_rows=max_rows))


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
        (pa.array([1] * 1500 + [2**60]), 1500, "has more digits"),
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
