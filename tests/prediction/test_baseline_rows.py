"""Rows from histograms have the distribution of the histograms."""

import numpy as np
import pytest

from app.prediction.baseline_rows import ROWS, column_of
from relevance_bayes.tables.columns import BooleanColumn, CategoryColumn, Column, NumberColumn, TimestampColumn
from relevance_bayes.tables.histograms import histogram_of
from relevance_bayes.types.baselines import CategoryHistogram, NumberHistogram
from tests.narrowing import of_kind
from tests.small_tables import texts

RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize("column", [NumberColumn, TimestampColumn])
def test_numbers_have_their_quantiles(column: type[NumberColumn] | type[TimestampColumn]) -> None:
    histogram = of_kind(NumberHistogram, histogram_of("x", column(RANDOM.gamma(2.0, 3.0, 4_000))))
    drawn = of_kind(column, column_of(histogram, (), seed=3))
    counts = np.bincount(np.searchsorted(histogram.edges, drawn.values), minlength=len(histogram.counts))
    expected = np.array(histogram.counts) / sum(histogram.counts) * ROWS
    assert np.abs(counts - expected).max() <= 1.0
    assert histogram.min is not None
    assert histogram.max is not None
    assert histogram.min <= drawn.values.min() < drawn.values.max() <= histogram.max


def test_categories_and_flags_have_their_frequencies_without_unknown_ones() -> None:
    labels = RANDOM.choice(["a", "b", "rare"], 1_000, p=[0.6, 0.3, 0.1]).tolist()
    histogram = of_kind(CategoryHistogram, histogram_of("c", texts(*labels)))
    drawn = of_kind(CategoryColumn, column_of(histogram, ("a", "b"), seed=0))
    assert set(drawn.labels) == {"a", "b"}
    share = np.mean([drawn.labels[code] == "a" for code in drawn.codes])
    assert share == pytest.approx(labels.count("a") / (labels.count("a") + labels.count("b")), abs=1.0 / ROWS)
    flags = BooleanColumn(np.array([1] * 30 + [0] * 70 + [-1] * 20, np.int8))
    found = of_kind(BooleanColumn, column_of(histogram_of("f", flags), (), seed=0))
    assert np.bincount(found.values).tolist() == [105, 45]


@pytest.mark.parametrize(
    "empty", [NumberColumn(np.array([np.nan])), BooleanColumn(np.array([-1], np.int8)), texts(None)]
)
def test_a_column_without_values_stays_without(empty: Column) -> None:
    drawn = column_of(histogram_of("e", empty), (), seed=0)
    values = drawn.codes if isinstance(drawn, CategoryColumn) else drawn.values
    assert len(values) == ROWS
    assert np.all(np.isnan(values) if values.dtype.kind == "f" else values == -1)


def test_two_inputs_are_in_different_orders_and_the_same_at_each_call() -> None:
    histogram = histogram_of("x", NumberColumn(np.arange(100.0)))
    first, again, other = (of_kind(NumberColumn, column_of(histogram, (), seed=seed)).values for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert abs(np.corrcoef(first, other)[0, 1]) < 0.3
