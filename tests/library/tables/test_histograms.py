"""Histograms of columns against counts row by row, and PSI against its two relative entropies."""

from collections import Counter
from itertools import pairwise
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy

from relevance_bayes.records.reports import CategoryHistogram, NumberHistogram
from relevance_bayes.tables.columns import CategoryArray, Column, NumberArray, TimestampArray
from relevance_bayes.tables.moments import (
    MAX_BINS,
    MAX_CATEGORIES,
    Binning,
    histogram_of,
    number_histogram,
    population_stability_index,
)
from tests.properties import examples
from tests.small_tables import flags, numbers, texts

COUNTS = st.lists(st.integers(0, 10**6), min_size=2, max_size=25)


def numbers_of(column: Column) -> NumberHistogram:
    found = histogram_of("x", column)
    assert isinstance(found, NumberHistogram)
    return found


@settings(max_examples=examples(200))
@given(st.data())
def test_psi_is_the_sum_of_both_relative_entropies_of_the_smoothed_shares(data: st.DataObject) -> None:
    expected = data.draw(COUNTS)
    observed = data.draw(st.lists(st.integers(0, 10**6), min_size=len(expected), max_size=len(expected)))
    p, q = (np.array(counts) + 0.5 for counts in (expected, observed))
    found = population_stability_index(expected, observed)
    assert found == pytest.approx(entropy(p, q) + entropy(q, p), rel=1e-9, abs=1e-9)
    assert found == pytest.approx(population_stability_index(observed, expected), rel=1e-9, abs=1e-12)


def test_psi_of_many_rows_is_that_of_the_textbook() -> None:
    """Two bins of 50 % and 50 %, of which the second gets 60 %; without smoothing (.4 - .5) ln(.4/.5) + ..."""
    textbook = (0.4 - 0.5) * log(0.4 / 0.5) + (0.6 - 0.5) * log(0.6 / 0.5)
    found = population_stability_index([5 * 10**7, 5 * 10**7], [4 * 10**7, 6 * 10**7])
    assert found == pytest.approx(textbook, rel=1e-6)
    assert population_stability_index([30, 70], [300, 700]) < 1e-4


def test_without_drift_psi_is_on_average_the_bins_less_one_times_both_reciprocal_numbers_of_rows() -> None:
    random = np.random.default_rng(1)
    shares = np.full(10, 0.1)
    found = [
        population_stability_index(*(random.multinomial(rows, shares).tolist() for rows in (800, 200)))
        for _ in range(2_000)
    ]
    assert np.mean(found) == pytest.approx(9 * (1 / 800 + 1 / 200), rel=0.05)


def test_bins_are_quantiles_and_counts_those_of_a_loop_over_the_rows() -> None:
    values = np.random.default_rng(0).normal(size=1_003)
    values[[3, 7, 9]] = np.nan
    found = numbers_of(NumberArray(values))
    assert found.missing == 3
    assert (found.min, found.max) == (np.nanmin(values), np.nanmax(values))
    assert len(found.counts) == MAX_BINS
    assert set(found.counts) == {100}
    bounds = [-np.inf, *found.edges, np.inf]
    looped = [sum(low < value <= high for value in values) for low, high in pairwise(bounds)]
    assert list(found.counts) == looped


@pytest.mark.parametrize(("rows", "bins"), [(2, 2), (30, 2), (60, 3), (100, 5), (5_000, MAX_BINS)])
def test_few_rows_have_few_bins(rows: int, bins: int) -> None:
    assert len(number_histogram("x", np.arange(float(rows))).counts) == bins


def test_a_value_that_many_rows_share_has_a_bin_of_its_own() -> None:
    """Most are 0, the least: what falls below, or between 0 and 1, is in other bins."""
    found = Binning(number_histogram("x", np.repeat([0.0, 1.0, 2.0], [500, 300, 200])))
    assert found.expected == (0, 500, 300, 200, 0, 0)
    assert found.observed(numbers(-1e-9, 0.0, 0.5, 1.5, 99.0)).tolist() == [1, 1, 1, 1, 1, 0]
    constant = Binning(number_histogram("x", np.full(50, 7.0)))
    assert constant.observed(numbers(6.99, 7.0, 7.01)).tolist() == [1, 1, 1, 0]


def test_a_column_without_values_has_one_bin_and_the_missing() -> None:
    found = number_histogram("x", np.full(4, np.nan))
    assert (found.min, found.max, found.edges, found.counts, found.missing) == (None, None, (), (0,), 4)
    assert Binning(found).observed(numbers(1.0)).tolist() == [1, 0]


def test_the_most_frequent_categories_have_bins_and_all_others_one() -> None:
    labels = [f"c{number:02}" for number in range(MAX_CATEGORIES + 5)]
    sent = [label for place, label in enumerate(labels) for _ in range(100 - place)]
    found = histogram_of("x", texts(*sent, None, None))
    assert isinstance(found, CategoryHistogram)
    assert {one.label: one.count for one in found.categories} == dict(Counter(sent).most_common(MAX_CATEGORIES))
    assert (found.other, found.missing) == (sum(80 - place for place in range(5)), 2)
    observed = Binning(found).observed(texts("c00", "c24", "unknown", None, "c01"))
    assert observed.tolist() == [1, 1, *[0] * (MAX_CATEGORIES - 2), 2, 1]


def test_labels_are_counted_by_their_texts_whatever_their_codes() -> None:
    found = Binning(histogram_of("x", texts("red", "red", "blue")))
    one = CategoryArray(np.array([0, 1, -1], np.int32), ("blue", "red"))
    other = CategoryArray(np.array([1, 0, -1], np.int32), ("red", "blue"))
    assert found.observed(one).tolist() == found.observed(other).tolist() == [1, 1, 0, 1]


def test_flags_and_points_in_time_are_counted() -> None:
    of_flags = Binning(histogram_of("x", flags(True, False, True, None)))
    assert of_flags.expected == (1, 2, 0, 1)
    assert of_flags.observed(flags(True, None, None)).tolist() == [0, 1, 0, 2]
    times = TimestampArray(np.arange(100.0))
    assert numbers_of(times).kind == "timestamp"
    assert Binning(numbers_of(times)).observed(times).tolist() == list(Binning(numbers_of(times)).expected)


@pytest.mark.parametrize("column", [numbers(1, 2, None), texts("a", None), flags(True, False)])
def test_a_column_of_another_kind_has_no_counts(column: Column) -> None:
    kinds: list[Column] = [numbers(1, 2, None), texts("a", None), flags(True, False)]
    counted = [int(Binning(histogram_of("x", one)).observed(column).sum()) for one in kinds]
    assert sorted(counted) == [0, 0, max(counted)]
    assert max(counted) > 0


@settings(max_examples=examples(200))
@given(st.lists(st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)), min_size=1, max_size=300))
def test_the_counts_of_the_same_rows_are_those_of_the_histogram(values: list[float | None]) -> None:
    column = NumberArray(np.array([np.nan if value is None else value for value in values]))
    found = Binning(histogram_of("x", column))
    assert tuple(found.observed(column).tolist()) == found.expected
    assert sum(found.expected) == len(values)
    edges = numbers_of(column).edges
    assert list(edges) == sorted(set(edges))
