import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevance_bayes.core.types import Array
from relevance_bayes.tables.encoding.columns import MAX_VALUES, OrdinaryRange, ValueSample


def limits(values: Array, *, blocks: int = 1) -> OrdinaryRange | None:
    sample = ValueSample()
    for block in np.array_split(values, blocks):
        sample.add(block)
    return sample.limits(float(values.min()), float(values.max()))


def normal(rows: int = 100) -> Array:
    return np.random.default_rng(rows).normal(20.0, 3.0, rows)


@pytest.mark.parametrize("far", [1e200, -1e200, 1.7e308, -9_999_999.0, 1e6])
@pytest.mark.parametrize("rows", [60, 3_000])
def test_one_value_far_from_all_others_is_outlying(far: float, rows: int) -> None:
    values = np.append(normal(rows), far)
    found = limits(values)
    assert found is not None
    assert np.flatnonzero(found.outside(values)).tolist() == [rows]


def mostly_zero() -> Array:
    rng = np.random.default_rng(3)
    return np.where(rng.random(400) < 0.95, 0.0, rng.normal(5.0, 1.0, 400))


COLUMNS = {
    "normal": normal(),
    "skewed": np.exp(3.0 * np.random.default_rng(1).standard_normal(1_000)),
    "uniform": np.random.default_rng(2).uniform(size=500),
    "mostly zero": mostly_zero(),
    "two values": np.repeat([0.0, 1e9], [99, 1]),
    "large offset": 1e12 + np.random.default_rng(5).normal(size=200),
    "few rows": np.array([1.0, 2.0, 3.0, 1e200]),
    "two lots": np.append(normal(), 1e9 + normal()),
    "one value": np.ones(30),
    "powers": 2.0 ** np.arange(300),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_without_a_gap_have_no_outlying_values(name: str) -> None:
    assert limits(COLUMNS[name]) is None


def test_outlying_values_are_found_among_whole_numbers_that_recur() -> None:
    values = np.append(np.tile([0.0, 1.0, 2.0], 50), [1e200])
    found = limits(values)
    assert found is not None
    assert np.flatnonzero(found.outside(values)).tolist() == [150]


@given(st.integers(1, 4), st.integers(0, 20))
def test_limits_do_not_depend_on_blocks_or_order(blocks: int, seed: int) -> None:
    values = np.append(normal(3 * MAX_VALUES), [1e30, -1e40])
    order = np.random.default_rng(seed).permutation(len(values))
    assert limits(values) == limits(values[order], blocks=blocks)


def test_a_gap_in_the_cells_is_not_outlying() -> None:
    assert OrdinaryRange(0.0, 1.0).outside(np.array([np.nan, 0.5, 2.0])).tolist() == [False, False, True]
