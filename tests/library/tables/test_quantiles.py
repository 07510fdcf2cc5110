"""Quantiles and histograms of streams: exact of few values, and within their bound in any order."""

from math import ceil, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevance_bayes.core.types import Array
from relevance_bayes.tables.moments import LEVELS, MAX_QUANTILE_BINS, MAX_SIZE, MIN_SIZE, QuantileSketch, buffer_size

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def sketched(values: Array, size: int = MAX_SIZE, parts: int = 1) -> QuantileSketch:
    sketch = QuantileSketch(size)
    for part in np.array_split(values, parts):
        sketch.add(part)
    return sketch


@given(st.lists(FINITE, min_size=1, max_size=300))
def test_of_few_values_quantiles_and_counts_are_exact(values: list[float]) -> None:
    present = np.array(values)
    sketch = sketched(present)
    expected = np.quantile(present, LEVELS, method="inverted_cdf")
    assert sketch.quantiles() == tuple(expected.tolist())
    counts = sketch.histogram(float(present.min()), float(present.max()))
    assert sum(counts) == len(values)
    assert len(counts) <= MAX_QUANTILE_BINS
    assert counts[0] > 0
    assert counts[-1] > 0


def test_a_histogram_is_that_of_numpy() -> None:
    values = np.random.default_rng(0).standard_normal(4_000)
    counts = sketched(values).histogram(float(values.min()), float(values.max()))
    assert counts == tuple(np.histogram(values, MAX_QUANTILE_BINS)[0].tolist())
    assert sketched(np.full(7, 2.5)).histogram(2.5, 2.5) == (7,)
    assert QuantileSketch().histogram(0.0, 1.0) == QuantileSketch().quantiles() == ()


RANDOM = np.random.default_rng(1)
ORDERS = {
    "random": RANDOM.standard_normal(100_003),
    "ascending": np.arange(100_003.0),
    "descending": -np.arange(100_003.0),
    "alternating": np.where(np.arange(100_003) % 2, 1.0, -1.0) * np.arange(100_003),
    "periodic": np.arange(100_003) % 256 + 0.0,
    "few values": RANDOM.integers(0, 5, 100_003).astype(np.float64),
}


@pytest.mark.parametrize("size", [MIN_SIZE, 1_000, MAX_SIZE])
@pytest.mark.parametrize("values", ORDERS.values(), ids=ORDERS)
def test_of_many_values_a_rank_is_wrong_by_no_more_than_the_bound(values: Array, size: int) -> None:
    n, ordered = len(values), np.sort(values)
    sketch = sketched(values, size)
    levels = log2(n / size) + 1.0
    tolerance = n * levels / (2.0 * size) + 2.0 ** ceil(levels)
    for level, found in zip(LEVELS, sketch.quantiles(), strict=True):
        assert np.searchsorted(ordered, found) - tolerance <= level * n
        assert np.searchsorted(ordered, found, side="right") + tolerance >= level * n
    assert tolerance / n < {MIN_SIZE: 0.03, 1_000: 0.007, MAX_SIZE: 0.002}[size]
    counts = sketch.histogram(float(ordered[0]), float(ordered[-1]))
    assert sum(counts) == n
    expected = np.histogram(values, len(counts))[0]
    assert np.abs(np.cumsum(counts) - np.cumsum(expected)).max() <= tolerance


def test_the_division_into_parts_changes_nothing() -> None:
    values = RANDOM.standard_normal(20_000)
    whole = sketched(values, MIN_SIZE)
    for parts in (3, 157, 20_000):
        assert sketched(values, MIN_SIZE, parts).quantiles() == whole.quantiles()


@pytest.mark.parametrize(
    ("columns", "size"), [(0, MAX_SIZE), (1, MAX_SIZE), (64, MAX_SIZE), (70, 3_744), (10_000, MIN_SIZE)]
)
def test_wide_tables_have_smaller_buffers(columns: int, size: int) -> None:
    assert buffer_size(columns) == size
