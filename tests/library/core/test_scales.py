from math import asinh, cosh, exp, sinh

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relevance_bayes.core.kernels.hyperparameters import WIDEST, InputMap, MapGradient, width_range
from relevance_bayes.core.types import Array
from tests.library.core.drawn import by_differences
from tests.properties import examples


def by_definition(points: Array) -> tuple[float, float]:
    distances = np.array([sorted(float(np.linalg.norm(u - z)) for z in points) for u in points])
    return float(np.median(distances[:, 3])), WIDEST * float(distances.max())


@pytest.mark.parametrize("inputs", [1, 2, 6])
def test_widths_go_from_the_third_nearest_neighbour_to_twice_the_diameter(inputs: int) -> None:
    X = np.random.default_rng(inputs).standard_normal((40, inputs))
    assert width_range(X) == pytest.approx(by_definition(X))


def test_repeated_rows_count_once() -> None:
    X = np.random.default_rng(0).standard_normal((20, 2))
    assert width_range(np.vstack([X, X, X, X])) == pytest.approx(width_range(X))


def test_the_order_of_the_rows_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3_000, 2))
    assert width_range(rng.permutation(X)) == width_range(X)


def test_one_point_alone_may_have_any_width() -> None:
    assert width_range(np.ones((5, 2))) == (1.0, 1.0)


@pytest.mark.parametrize("points", [2, 3])
def test_few_points_have_a_range_too(points: int) -> None:
    minimum, largest = width_range(np.arange(float(points))[:, None])
    assert 0.0 < minimum <= largest == WIDEST * (points - 1.0)


def drawn_map(inputs: int, *, seed: int = 0, one_width: bool = False, skew: bool = True, tail: bool = True) -> InputMap:
    rng = np.random.default_rng(seed)
    return InputMap(
        np.exp(rng.standard_normal(1 if one_width else inputs)),
        rng.normal(0.0, 0.7, inputs) if skew else None,
        rng.normal(0.0, 0.5, inputs) if tail else None,
    )


def test_one_width_divides_all_inputs() -> None:
    X = np.array([[1.0, -2.0]])
    np.testing.assert_array_equal(InputMap.isotropic(0.5)(X), [[2.0, -4.0]])
    np.testing.assert_array_equal(InputMap(np.array([0.5, 4.0]))(X), [[2.0, -0.5]])


def test_a_map_is_its_definition() -> None:
    X = np.random.default_rng(1).normal(0.0, 3.0, (5, 3))
    found = drawn_map(3)
    assert found.skew is not None
    assert found.tail is not None
    by_hand = [
        [
            (sinh(exp(tail) * asinh(x) - a) + sinh(a)) / (exp(tail) * cosh(a)) / width
            for x, width, a, tail in zip(row, found.widths, found.skew, found.tail, strict=True)
        ]
        for row in X.tolist()
    ]
    np.testing.assert_allclose(found(X), by_hand, rtol=1e-12)


@pytest.mark.parametrize("inputs", [1, 3])
def test_a_warp_of_zeros_is_none(inputs: int) -> None:
    X = np.random.default_rng(0).standard_normal((6, inputs)) * np.logspace(-12.0, 6.0, 6)[:, None]
    none, widths = np.zeros(inputs), np.linspace(0.5, 2.0, inputs)
    for warp in (InputMap(widths, none, none), InputMap(widths, none), InputMap(widths, tail=none)):
        np.testing.assert_allclose(warp(X), X / widths, rtol=1e-13)


@given(st.floats(-3.0, 3.0), st.floats(-2.0, 2.0))
def test_a_warp_is_monotone_with_slope_one_at_zero(a: float, tail: float) -> None:
    warp = InputMap(np.ones(1), np.array([a]), np.array([tail]))
    x = np.concatenate([-np.logspace(6.0, -6.0, 300), [0.0], np.logspace(-6.0, 6.0, 300)])
    assert (np.diff(warp(x[:, None])[:, 0]) > 0.0).all()
    np.testing.assert_allclose(warp(np.array([[-1e-9], [0.0], [1e-9]])), [[-1e-9], [0.0], [1e-9]], rtol=1e-6)


@pytest.mark.parametrize("a", [-10.0, 0.0, 10.0])
@pytest.mark.parametrize("tail", [-2.0, 2.0])
def test_large_inputs_stay_finite(a: float, tail: float) -> None:
    warp = InputMap(np.ones(1), np.array([a]), np.array([tail]))
    X = np.array([[-1e40], [-1e6], [0.0], [1e6], [1e40]])
    gradient = warp.pull(X, np.full_like(X, 1e-3))
    assert np.isfinite(warp(X)).all()
    assert gradient.skew is not None
    assert gradient.tail is not None
    assert np.isfinite([*gradient.log_widths, *gradient.skew, *gradient.tail]).all()


def assert_gradient(found: MapGradient, of: InputMap, X: Array, dU: Array) -> None:
    def value(other: InputMap) -> float:
        return float((dU * other(X)).sum())

    tolerance = 1e-7 * max(1.0, float(np.abs(dU * of(X)).sum()))
    np.testing.assert_allclose(
        found.log_widths,
        by_differences(lambda logs: value(InputMap(np.exp(logs), of.skew, of.tail)), np.log(of.widths)),
        atol=tolerance,
    )
    assert (found.skew is None, found.tail is None) == (of.skew is None, of.tail is None)
    if of.skew is not None and found.skew is not None:
        slopes = by_differences(lambda skew: value(InputMap(of.widths, skew, of.tail)), of.skew)
        np.testing.assert_allclose(found.skew, slopes, atol=tolerance)
    if of.tail is not None and found.tail is not None:
        slopes = by_differences(lambda tail: value(InputMap(of.widths, of.skew, tail)), of.tail)
        np.testing.assert_allclose(found.tail, slopes, atol=tolerance)


@settings(deadline=None, max_examples=examples(15))
@given(st.integers(0, 5), st.integers(1, 4), st.booleans(), st.booleans(), st.booleans(), st.integers(0, 99))
def test_the_pull_is_the_gradient(rows: int, inputs: int, one: bool, skew: bool, tail: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, dU = rng.normal(0.0, 2.0, (rows, inputs)), rng.standard_normal((rows, inputs))
    found = drawn_map(inputs, seed=seed, one_width=one, skew=skew, tail=tail)
    gradient = found.pull(X, dU)
    assert found(X).shape == X.shape
    assert gradient.log_widths.shape == found.widths.shape
    assert_gradient(gradient, found, X, dU)


def test_the_gradient_of_a_warp_keeps_its_digits_near_zero() -> None:
    X, a = np.array([[1e-9]]), 2.0
    gradient = InputMap(np.ones(1), np.array([a])).pull(X, np.ones((1, 1)))
    # u = x - tanh(a) x^2/2 + ..., so that du/da = -x^2 / (2 cosh(a)^2) + ...
    assert gradient.skew is not None
    np.testing.assert_allclose(gradient.skew, [-0.5e-18 / np.cosh(a) ** 2], rtol=1e-8)


@settings(max_examples=examples(15))
@given(st.integers(0, 5), st.integers(1, 4), st.booleans(), st.booleans(), st.booleans(), st.integers(0, 99))
def test_the_inverse_leads_back(rows: int, inputs: int, one: bool, skew: bool, tail: bool, seed: int) -> None:
    X = np.random.default_rng(seed).normal(0.0, 2.0, (rows, inputs))
    found = drawn_map(inputs, seed=seed, one_width=one, skew=skew, tail=tail)
    np.testing.assert_allclose(found.inverse(found(X)), X, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found(found.inverse(X)), X, rtol=1e-9, atol=1e-9)
