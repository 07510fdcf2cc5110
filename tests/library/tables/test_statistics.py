"""Summaries and digests, against the plain definition and whatever the blocks."""

import hashlib
import math
import struct
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevance_bayes.records.values import ColumnKind
from relevance_bayes.tables.columns import Block, CategoryArray, ColumnSummary, NumberArray
from relevance_bayes.tables.statistics import MAX_CELLS_WAITING, TableStatistics
from tests.small_tables import cut_up, flags, moments, numbers, texts

NAMES = ("n", "b", "t", "c")
KINDS: tuple[ColumnKind, ...] = ("number", "boolean", "timestamp", "category")
BLOCK: Block = {
    "n": numbers(1.0, None, 4.0, 4.0),
    "b": flags(True, False, None, True),
    "t": moments(0.0, 86400.0, None, None),
    "c": texts("x", None, "y", "y"),
}


def seen(*blocks: Block) -> TableStatistics:
    statistics = TableStatistics(NAMES, KINDS)
    for block in blocks:
        statistics.add(block)
    return statistics


def one(column: NumberArray | CategoryArray) -> ColumnSummary:
    statistics = TableStatistics(("x",), ("category" if isinstance(column, CategoryArray) else "number",))
    statistics.add({"x": column})
    return statistics.summaries()[0]


def test_each_kind_has_its_summary() -> None:
    statistics = seen(BLOCK)
    n, b, t, c = statistics.summaries()
    assert statistics.rows == 4
    assert replace(n, mean=None, sd=None) == ColumnSummary(
        "n",
        "number",
        1,
        1.0,
        4.0,
        integral=True,
        distinct=2,
        values=(1.0, 4.0),
        quantiles=(1.0, 1.0, 1.0, 1.0, 4.0, 4.0, 4.0, 4.0, 4.0),
        histogram=(1, 0, 2),
    )
    assert n.mean == pytest.approx(3.0)
    assert n.sd == pytest.approx(math.sqrt(2))
    assert replace(b, mean=None, sd=None) == ColumnSummary("b", "boolean", 1, 0.0, 1.0, integral=True, distinct=2)
    assert b.mean == pytest.approx(2 / 3)
    assert b.sd == pytest.approx(math.sqrt(2) / 3)
    assert replace(t, quantiles=(), histogram=()) == ColumnSummary(
        "t", "timestamp", 2, 0.0, 86400.0, 43200.0, 43200.0, True, 2
    )
    assert (t.quantiles[4], t.histogram) == (0.0, (1, 0, 1))
    assert (b.quantiles, b.histogram) == ((), ())
    assert c == ColumnSummary("c", "category", 1, distinct=2, categories=(("y", 2), ("x", 1)))


def test_the_digest_is_the_documented_one() -> None:
    def of(name: bytes, kind: bytes, content: bytes) -> bytes:
        return struct.pack("<I", len(name)) + name + kind + b"\0" + hashlib.sha256(content).digest()

    nan = math.nan
    expected = hashlib.sha256(
        struct.pack("<I", 4)
        + of(b"n", b"number", struct.pack("<4d", 1, nan, 4, 4))
        + of(b"b", b"boolean", struct.pack("<4d", 1, 0, nan, 1))
        + of(b"t", b"timestamp", struct.pack("<4d", 0, 86400, nan, nan))
        + of(b"c", b"category", b"\x01\0\0\0x\xff\xff\xff\xff\x01\0\0\0y\x01\0\0\0y")
    )
    assert seen(BLOCK).digest() == expected.hexdigest()


@given(st.lists(st.integers(0, 4), max_size=4).map(sorted))
def test_where_blocks_end_changes_nothing(ends: list[int]) -> None:
    pieces = seen(*(piece for _, piece in cut_up(BLOCK, *ends)))
    full = seen(BLOCK)
    assert pieces.digest() == full.digest()
    assert [(s.missing, s.distinct, s.categories, s.values) for s in pieces.summaries()] == [
        (s.missing, s.distinct, s.categories, s.values) for s in full.summaries()
    ]


def test_another_value_name_kind_or_gap_is_another_digest() -> None:
    def digest(name: str, kind: ColumnKind, *values: float | None) -> str:
        statistics = TableStatistics((name,), (kind,))
        statistics.add({name: moments(*values) if kind == "timestamp" else numbers(*values)})
        return statistics.digest()

    digests = {
        digest("x", "number", 1.0, 2.0),
        digest("x", "number", 1.0, None),
        digest("x", "number", 2.0, 1.0),
        digest("z", "number", 1.0, 2.0),
        digest("x", "timestamp", 1.0, 2.0),
    }
    assert len(digests) == 5


def test_more_rows_than_wait_are_as_good_as_few() -> None:
    values = np.random.default_rng(1).normal(1e6, 1.0, MAX_CELLS_WAITING + 1000)
    statistics = TableStatistics(("x",), ("number",))
    for piece in np.array_split(values, 7):
        statistics.add({"x": NumberArray(piece)})
    (summary,) = statistics.summaries()
    assert summary.mean == pytest.approx(values.mean(), rel=1e-14)
    assert summary.sd == pytest.approx(values.std(), rel=1e-9)
    assert (summary.minimum, summary.maximum, summary.distinct) == (values.min(), values.max(), None)


def test_the_ends_of_float64_neither_overflow_nor_warn() -> None:
    summary = one(numbers(1.7e308, -1.7e308, 1e-308))
    assert summary.mean == pytest.approx(0.0, abs=1e293)
    assert summary.sd == pytest.approx(1.7e308 * math.sqrt(2 / 3))
    tiny = one(numbers(1e-308, 3e-308))
    assert tiny.mean == pytest.approx(2e-308)
    assert tiny.sd == pytest.approx(1e-308)


@pytest.mark.parametrize(
    ("values", "integral"),
    [((1.0, -3.0, 0.0), True), ((1.5,), False), ((2.0**53,), False), ((2.0**53 - 1,), True), ((None,), False)],
)
def test_integral_is_whole_and_below_2_to_the_53(values: tuple[float | None, ...], integral: bool) -> None:
    assert one(numbers(*values)).integral is integral


@pytest.mark.parametrize(("different", "distinct"), [(50, 50), (51, None)])
def test_up_to_50_different_values_are_counted(different: int, distinct: int | None) -> None:
    assert one(numbers(*map(float, range(different)))).distinct == distinct
    assert one(texts(*map(str, range(different)))).distinct == distinct


@pytest.mark.parametrize(("different", "is_kept"), [(50, False), (51, True), (1_000, True), (1_001, False)])
def test_labels_and_integers_are_kept_from_51_to_1000_different_values(different: int, is_kept: bool) -> None:
    values = tuple(range(different))
    assert one(numbers(*map(float, reversed(values)))).labels == (values if is_kept else ())
    assert one(texts(*map(str, values))).labels == (tuple(sorted(map(str, values))) if is_kept else ())
    assert one(numbers(*(value + 0.5 for value in values))).labels == ()


def test_the_most_frequent_labels_come_first_and_ties_by_label() -> None:
    labels = [f"rare {n}" for n in range(60)] + ["b", "b", "a", "a", "c", "c", "c"]
    summary = one(texts(*labels))
    assert summary.categories[:3] == (("c", 3), ("a", 2), ("b", 2))
    assert len(summary.categories) == 50
    assert summary.distinct is None


def test_too_many_or_too_long_labels_are_not_listed() -> None:
    assert one(texts(*(f"id {n}" for n in range(1001)))).categories == ()
    prose = one(texts("short", "long" * 100))
    assert (prose.categories, prose.distinct) == ((), None)


def test_a_column_without_a_value_has_no_figures() -> None:
    assert one(numbers(None, None)) == ColumnSummary("x", "number", 2, distinct=0)
    assert one(texts(None)) == ColumnSummary("x", "category", 1, distinct=0)
