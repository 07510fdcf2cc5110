"""Files in parts: joined they are the file that Arrow writes of all rows at once, wherever they are divided."""

import io
from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from app.answers.parquet_file import parquet_of
from app.answers.parts import ENDS, PartsFormat, part_of, parts_of
from app.answers.tables import arrow_table, raw_array
from app.services.answering import Labels
from tests.domain.small_tables import flags, moments, numbers, texts

ROWS = 50


def table(first: int = 0, last: int = ROWS) -> pa.Table:
    draws = np.random.default_rng(3).normal(size=ROWS)
    places = np.arange(ROWS) % 4 - 1
    faulty = np.arange(ROWS) % 7 == 0
    some = slice(first, last)
    return arrow_table(
        {"mean": draws[some], "label": Labels(("no", "per,haps", "yes"), places[some])},
        faulty[some],
        {row - first: 'It is "bad".' for row in range(first, last) if faulty[row]},
        {"model": "small", "version": "3"},
        {"id": raw_array(numbers(*range(first, last)), integral=True)},
    )


def whole(coded: PartsFormat) -> bytes:
    """As Arrow itself writes it."""
    sink = pa.BufferOutputStream()
    if coded == "csv":
        pacsv.write_csv(table(), sink, pacsv.WriteOptions(quoting_style="needed"))
    else:
        with pa.ipc.new_stream(sink, table().schema) as writer:
            writer.write_table(table())
    return sink.getvalue().to_pybytes()


def parts(coded: PartsFormat, *, size: int) -> Iterator[bytes]:
    for first in range(0, ROWS, size):
        yield part_of(coded, table(first, min(first + size, ROWS)), is_first=first == 0)
    yield ENDS[coded]


@pytest.mark.parametrize("size", [1, 13, ROWS])
def test_lines_of_parts_are_those_of_the_whole(size: int) -> None:
    assert b"".join(parts("csv", size=size)) == whole("csv")


@pytest.mark.parametrize("size", [1, 13, ROWS])
def test_a_stream_of_parts_holds_the_whole(size: int) -> None:
    read = pa.ipc.open_stream(b"".join(parts("arrow", size=size))).read_all()
    assert read.equals(table(), check_metadata=True)
    if size == ROWS:
        assert b"".join(parts("arrow", size=size)) == whole("arrow")


@pytest.mark.parametrize("rows_at_once", [13, ROWS, ROWS + 1])
def test_what_is_known_whole_is_divided_too(monkeypatch: pytest.MonkeyPatch, rows_at_once: int) -> None:
    monkeypatch.setattr("app.answers.parts.ROWS_AT_ONCE", rows_at_once)
    lines, stream = [*parts_of("csv", table())], [*parts_of("arrow", table())]
    assert len(lines) == len(stream) == -(-ROWS // rows_at_once)
    assert b"".join(lines) == whole("csv")
    assert pa.ipc.open_stream(b"".join(stream)).read_all().equals(table(), check_metadata=True)


def test_a_parquet_file_of_a_streams_parts_holds_the_whole_a_row_group_each() -> None:
    file = b"".join(parquet_of(parts("arrow", size=13)))
    assert pq.read_table(io.BytesIO(file)).equals(table(), check_metadata=True)
    assert pq.ParquetFile(io.BytesIO(file)).num_row_groups == 4


def test_a_parquet_file_is_the_same_however_the_stream_comes_in_pieces() -> None:
    stream = b"".join(parts("arrow", size=13))
    whole = b"".join(parquet_of(iter([stream])))
    for size in (1, 100, 1_001):
        pieces = (stream[place : place + size] for place in range(0, len(stream), size))
        assert b"".join(parquet_of(pieces)) == whole


def test_a_parquet_file_leaves_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.answers.parquet_file.PIECE", 1)
    pieces = [*parquet_of(parts("arrow", size=13))]
    assert len(pieces) == 5  # one for each row group, and the end
    monkeypatch.undo()
    assert b"".join(pieces) == b"".join(parquet_of(parts("arrow", size=13)))


def test_columns_of_a_dataset_keep_their_kinds_and_gaps() -> None:
    at = datetime(2024, 5, 1, 12, 30, tzinfo=UTC)
    columns = {
        "whole": raw_array(numbers(1, None, 2**53), integral=True),
        "real": raw_array(numbers(1.5, None, 3), integral=False),
        "flag": raw_array(flags(True, None, False), integral=False),
        "text": raw_array(texts("b", None, "a"), integral=False),
        "when": raw_array(moments(at.timestamp(), None, 0.25), integral=False),
    }
    told = pa.table(columns).to_pydict()
    assert told == {
        "whole": [1, None, 2**53],
        "real": [1.5, None, 3.0],
        "flag": [True, None, False],
        "text": ["b", None, "a"],
        "when": [at, None, datetime(1970, 1, 1, 0, 0, 0, 250_000, UTC)],
    }
    read = pacsv.read_csv(io.BytesIO(part_of("csv", pa.table(columns), is_first=True)))
    assert read.column("whole").to_pylist() == [1, None, 2**53]
