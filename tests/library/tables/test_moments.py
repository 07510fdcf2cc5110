import math
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevance_bayes.tables.moments import Moments

ANY = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.lists(st.floats(-1e6, 1e6), max_size=8), max_size=6))
def test_moments_of_pieces_added_are_those_of_the_whole(pieces: list[list[float]]) -> None:
    complete = np.array([value for piece in pieces for value in piece])
    added = reduce(lambda total, piece: total + Moments.of(np.array(piece)), pieces, Moments())
    assert added.count == len(complete)
    if len(complete):
        size = np.abs(complete).max()
        assert (added.minimum, added.maximum) == (complete.min(), complete.max())
        assert added.mean == pytest.approx(math.fsum(complete) / len(complete), rel=1e-12, abs=1e-13 * size)
        spread = (complete / size).std() * size if size else 0.0  # squares of small numbers would vanish
        assert added.sd == pytest.approx(spread, rel=1e-6, abs=1e-7 * size)


@given(st.lists(ANY, min_size=1, max_size=8), st.lists(ANY, max_size=8))
def test_moments_stay_finite_and_within_the_range_whatever_the_numbers(first: list[float], second: list[float]) -> None:
    seen = Moments.of(np.array(first)) + Moments.of(np.array(second))
    assert seen.minimum <= seen.mean <= seen.maximum
    assert 0 <= seen.sd <= max(abs(seen.minimum), abs(seen.maximum))


@pytest.mark.parametrize("unit", [1e308, 1e-308, 5e-324, 1.0])
def test_the_spread_of_numbers_at_the_ends_of_the_range_is_right(unit: float) -> None:
    seen = Moments.of(np.array([-unit, unit])) + Moments.of(np.array([-unit, unit]))
    assert (seen.mean, seen.sd) == (0.0, unit)


def test_zeros_do_not_hide_the_spread_of_tiny_numbers() -> None:
    seen = Moments.of(np.zeros(1)) + Moments.of(np.array([2e-200]))
    assert (seen.mean, seen.sd) == (1e-200, 1e-200)


@pytest.mark.parametrize("value", [0.1, 0.0, 1e308, 3.0, -7e-310])
def test_equal_numbers_have_their_mean_exactly_and_no_spread(value: float) -> None:
    seen = Moments.of(np.full(7, value)) + Moments.of(np.full(3, value))
    assert (seen.is_constant, seen.mean, seen.sd) == (True, value, 0.0)


def test_moments_of_nothing_are_zero() -> None:
    assert (Moments().mean, Moments().sd, Moments().is_constant) == (0.0, 0.0, True)
