"""from dataclasses import replace"""

from dataclasses import replace
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevance_bayes.core.kernels.hyperparameters import Hyperparameters, InputMap, MapGradient, Terms, packed_gradient
from tests.library.core.drawn import by_differences


def drawn(columns: int, inputs: int, *, one: bool, warp: bool, seed: int = 0) -> Hyperparameters:
    rng = np.random.default_rng(seed)
    widths = np.exp(rng.standard_normal(1 if one else inputs))
    bends = (rng.normal(0.0, 0.3, inputs), rng.normal(0.0, 0.3, inputs)) if warp else (None, None)
    return Hyperparameters(3.7, 0.6, np.exp(rng.standard_normal(columns)), InputMap(widths, *bends))


@given(st.integers(0, 4), st.integers(1, 4), st.booleans(), st.booleans(), st.integers(0, 99))
def test_what_is_packed_is_unpacked_again(columns: int, inputs: int, one: bool, warp: bool, seed: int) -> None:
    given_one = drawn(columns, inputs, one=one, warp=warp, seed=seed)
    theta = given_one.packed()
    assert len(theta) == 2 + columns + (1 if one else inputs) + (2 * inputs if warp else 0)
    found = drawn(columns, inputs, one=one, warp=warp, seed=seed + 1).unpacked(theta)
    assert found.beta == pytest.approx(given_one.beta)
    assert found.signal_variance == pytest.approx(given_one.signal_variance)
    np.testing.assert_allclose(found.alpha, given_one.alpha)
    np.testing.assert_allclose(found.input_map.widths, given_one.input_map.widths)
    for bend, other in (
        (found.input_map.skew, given_one.input_map.skew),
        (found.input_map.tail, given_one.input_map.tail),
    ):
        assert (bend is None) == (other is None) == (not warp)
        if bend is not None and other is not None:
            np.testing.assert_array_equal(bend, other)
    np.testing.assert_allclose(found.packed(), theta, rtol=1e-12, atol=1e-15)


def test_theta_is_in_the_order_of_its_docstring() -> None:
    found = Hyperparameters(
        2.0,
        3.0,
        np.array([4.0]),
        InputMap(np.array([5.0, 6.0]), np.array([0.1, 0.2]), np.array([0.3, 0.4])),
        Terms((1,), np.array([0.5])),
    )
    expected = [log(2.0), log(3.0), log(4.0), log(5.0), log(6.0), 0.1, 0.2, 0.3, 0.4, 0.5]
    np.testing.assert_allclose(found.packed(), expected)
    gradient = packed_gradient(
        1.0,
        2.0,
        np.array([3.0]),
        MapGradient(np.array([4.0, 5.0]), np.array([6.0, 7.0]), np.array([8.0, 9.0])),
        np.array([10.0]),
    )
    np.testing.assert_array_equal(gradient, np.arange(1.0, 11.0))


@pytest.mark.parametrize("warp", [True, False], ids=["warped", "plain"])
def test_terms_are_packed_after_the_warps_and_unpacked_again(warp: bool) -> None:
    h = replace(drawn(1, 4, one=False, warp=warp), terms=Terms((3, 1), np.array([-0.2, 1.5])))
    theta = h.packed()
    np.testing.assert_array_equal(theta[-2:], [-0.2, 1.5])
    found = h.unpacked(theta + 0.1)
    assert found.terms.alone == (3, 1)
    np.testing.assert_allclose(found.packed(), theta + 0.1, rtol=1e-12)
    assert (found.input_map.tail is None) == (not warp)
    assert h.free(noise=True, widths=False).tolist()[-2:] == [True, True]
    without = replace(h, terms=Terms())
    assert h.log_prior()[0] == pytest.approx(without.log_prior()[0] + h.terms.log_prior()[0])
    slopes = by_differences(lambda there: h.unpacked(there).log_prior()[0], theta)
    np.testing.assert_allclose(h.log_prior()[1], slopes, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("one", [True, False], ids=["one width", "each"])
@pytest.mark.parametrize("warp", [True, False], ids=["warped", "plain"])
def test_the_prior_is_its_formula_and_has_its_gradient(one: bool, warp: bool) -> None:
    h = drawn(2, 3, one=one, warp=warp)
    value, gradient = h.log_prior()
    by_hand = -2.0 * sum(1.0 / width for width in h.input_map.widths.tolist())
    for bend in (h.input_map.skew, h.input_map.tail):
        if bend is not None:
            by_hand -= sum(log(1.0 + (a / 0.2) ** 2) for a in bend.tolist())
    assert value == pytest.approx(by_hand)
    slopes = by_differences(lambda theta: h.unpacked(theta).log_prior()[0], h.packed())
    np.testing.assert_allclose(gradient, slopes, rtol=1e-7, atol=1e-8)


def test_an_input_that_does_not_matter_and_no_bend_cost_nothing() -> None:
    none = np.zeros(2)
    value, _ = Hyperparameters(1.0, 1.0, np.empty(0), InputMap(np.full(2, exp(30.0)), none, none)).log_prior()
    assert value == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("one", [True, False], ids=["one width", "each"])
def test_noise_and_widths_move_only_where_they_are_learned(one: bool) -> None:
    h = drawn(2, 3, one=one, warp=False)
    k = 1 if one else 3
    assert h.free(noise=True, widths=True).tolist() == [True] * (4 + k)
    assert h.free(noise=False, widths=True).tolist() == [False] + [True] * (3 + k)
    assert h.free(noise=True, widths=False).tolist() == [True] * 4 + [False] * k


@pytest.mark.parametrize("warp", [False, True])
def test_the_hyperprior_of_a_common_width_has_its_gradient_and_no_unit(warp: bool) -> None:
    h, spread = drawn(2, 4, one=False, warp=warp), np.array([1.0, 2.0, 0.5, 3.0])
    value, slope = h.common_width(spread, 0.7)
    logs = np.log(h.input_map.widths / spread)
    assert value == pytest.approx(-0.35 * 4 * logs.var())
    by_hand = by_differences(lambda theta: h.unpacked(theta).common_width(spread, 0.7)[0], h.packed())
    np.testing.assert_allclose(slope, by_hand, atol=1e-8)
    common = replace(h, input_map=InputMap(9.0 * spread, h.input_map.skew, h.input_map.tail))
    assert common.common_width(spread, 0.7)[0] == pytest.approx(0.0, abs=1e-12)


def test_one_width_has_no_other_to_be_drawn_to() -> None:
    h = drawn(2, 4, one=True, warp=False)
    value, slope = h.common_width(np.ones(4), 0.7)
    assert value == 0.0
    assert not slope.any()
