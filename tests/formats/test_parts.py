"""Files in parts: joined they are the file that Arrow writes of all rows at once, wherever they are divided."""

import io
from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from app.formats import BATCH_FORMATS
from app.formats.arrow_writing import arrow_table, csv_part, raw_array
from app.formats.format import AssembledFormat, PartsFormat, WritableFormat
from app.formats.media_types import Arrow, Csv, Parquet
from app.formats.streams import FlatTable, KeptColumn
from relevance_bayes.tables.columns import Labels
from tests.formats.flat import Flat
from tests.small_tables import flags, moments, numbers, texts
from tests.table_files import table_of

ROWS = 50


BY_PARTS = tuple(one for one in BATCH_FORMATS if isinstance(one, PartsFormat))
ASSEMBLED = tuple(one for one in BATCH_FORMATS if isinstance(one, AssembledFormat))


def flat(first: int = 0, last: int = ROWS) -> FlatTable:
    draws = np.random.default_rng(3).normal(size=ROWS)
    places = np.arange(ROWS) % 4 - 1
    faulty = np.arange(ROWS) % 7 == 0
    some = slice(first, last)
    return FlatTable(
        {"mean": draws[some], "label": Labels(("no", "per,haps", "yes"), places[some])},
        faulty[some],
        {row - first: 'It is "bad".' for row in range(first, last) if faulty[row]},
        {"model": "small", "version": "3"},
        {"id": KeptColumn(numbers(*range(first, last)), True)},
    )


def parts(coded: PartsFormat, *, size: int) -> Iterator[bytes]:
    for first in range(0, ROWS, size):
        yield coded.part(flat(first, min(first + size, ROWS)), is_first=first == 0)
    yield coded.end()


def by_arrow() -> bytes:
    """CSV as Arrow itself writes it."""
    sink = pa.BufferOutputStream()
    pacsv.write_csv(arrow_table(flat()), sink, pacsv.WriteOptions(quoting_style="needed"))
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize("size", [1, 13, ROWS])
@pytest.mark.parametrize("coded", BY_PARTS, ids=lambda one: one.name)
def test_parts_are_the_whole_wherever_they_are_divided(coded: PartsFormat, size: int) -> None:
    assert table_of(coded.name, b"".join(parts(coded, size=size))) == table_of(coded.name, b"".join(full(coded)))


def full(coded: WritableFormat) -> list[bytes]:
    return [*coded.write(Flat(flat()))]


@pytest.mark.parametrize("size", [1, 13, ROWS])
def test_lines_of_parts_are_those_that_arrow_writes(size: int) -> None:
    assert b"".join(parts(Csv(), size=size)) == by_arrow()


@pytest.mark.parametrize("coded", [one for one in BATCH_FORMATS if not one.is_text], ids=lambda one: one.name)
def test_a_file_holds_the_table_its_types_and_what_is_stated_of_it(coded: WritableFormat) -> None:
    assert table_of(coded.name, b"".join(full(coded))).equals(arrow_table(flat()), check_metadata=True)


@pytest.mark.parametrize("rows_at_once", [13, ROWS, ROWS + 1])
@pytest.mark.parametrize("coded", BY_PARTS, ids=lambda one: one.name)
def test_what_is_known_whole_is_divided_too(
    monkeypatch: pytest.MonkeyPatch, coded: PartsFormat, rows_at_once: int
) -> None:
    expected = table_of(coded.name, b"".join(full(coded)))
    monkeypatch.setattr("app.formats.arrow_writing.ROWS_AT_ONCE", rows_at_once)
    pieces = full(coded)
    assert len(pieces) == -(-ROWS // rows_at_once)
    assert table_of(coded.name, b"".join(pieces)) == expected


@pytest.mark.parametrize("coded", ASSEMBLED, ids=lambda one: one.name)
def test_a_file_assembled_of_a_streams_parts_holds_the_whole(coded: AssembledFormat) -> None:
    file = b"".join(coded.assemble(parts(Arrow(), size=13)))
    assert table_of(coded.name, file).equals(arrow_table(flat()), check_metadata=True)


def test_each_part_is_a_row_group_of_parquet() -> None:
    file = b"".join(Parquet().assemble(parts(Arrow(), size=13)))
    assert pq.ParquetFile(io.BytesIO(file)).num_row_groups == 4


@pytest.mark.parametrize("coded", ASSEMBLED, ids=lambda one: one.name)
def test_an_assembled_file_is_the_same_however_the_stream_comes_in_pieces(coded: AssembledFormat) -> None:
    stream = b"".join(parts(Arrow(), size=13))
    file = b"".join(coded.assemble(iter([stream])))
    for size in (1, 100, 1_001):
        pieces = (stream[place : place + size] for place in range(0, len(stream), size))
        assert b"".join(coded.assemble(pieces)) == file


@pytest.mark.parametrize("coded", ASSEMBLED, ids=lambda one: one.name)
def test_an_assembled_file_leaves_in_pieces(monkeypatch: pytest.MonkeyPatch, coded: AssembledFormat) -> None:
    monkeypatch.setattr("app.formats.arrow_writing.PIECE", 1)
    pieces = [*coded.assemble(parts(Arrow(), size=13))]
    assert len(pieces) == 5  # one for each part, and the end
    monkeypatch.undo()
    assert b"".join(pieces) == b"".join(coded.assemble(parts(Arrow(), size=13)))


def test_columns_of_a_dataset_keep_their_kinds_and_gaps() -> None:
    at = datetime(2024, 5, 1, 12, 30, tzinfo=UTC)
    columns = {
        "whole": raw_array(numbers(1, None, 2**53), integral=True),
        "real": raw_array(numbers(1.5, None, 3), integral=False),
        "flag": raw_array(flags(True, None, False), integral=False),
        "text": raw_array(texts("b", None, "a"), integral=False),
        "when": raw_array(moments(at.timestamp(), None, 0.25), integral=False),
    }
    reported = pa.table(columns).to_pydict()
    assert reported == {
        "whole": [1, None, 2**53],
        "real": [1.5, None, 3.0],
        "flag": [True, None, False],
        "text": ["b", None, "a"],
        "when": [at, None, datetime(1970, 1, 1, 0, 0, 0, 250_000, UTC)],
    }
    read = pacsv.read_csv(io.BytesIO(csv_part(pa.table(columns), is_first=True)))
    assert read.column("whole").to_pylist() == [1, None, 2**53]
