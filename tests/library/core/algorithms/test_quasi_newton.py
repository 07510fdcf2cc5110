from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import rosen, rosen_der

from relevance_bayes.core.algorithms.hyperparameter_space import FreeEntries, ascend, updated
from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.core.types import Array

SUMMIT = np.array([1.0, -2.0, 0.5])
CURVATURE = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 1.0]])
ALL = FreeEntries(np.ones(3, np.bool_), np.arange(3), np.full(3, -10.0), np.full(3, 10.0))


@dataclass(frozen=True, eq=False)
class Point:
    """An evaluation of a test's objective."""

    theta: Array
    value: float
    gradient: Array


def quadratic(theta: Array) -> Point:
    """Greatest at the summit, where it is 7."""
    slope = -CURVATURE @ (theta - SUMMIT)
    return Point(theta, 7.0 + 0.5 * float(slope @ (theta - SUMMIT)), slope)


def valley(theta: Array) -> Point:
    return Point(theta, -float(rosen(theta)), -np.asarray(rosen_der(theta)))


def test_a_quadratic_of_known_curvature_takes_one_step_and_one_evaluation() -> None:
    found = ascend(quadratic, quadratic(np.zeros(3)), CURVATURE, ALL, max_steps=10, tolerance=1e-6)
    np.testing.assert_allclose(found.best.theta, SUMMIT, atol=1e-12)
    assert found.evaluations == 1
    assert found.has_converged


def test_a_step_is_at_most_two_in_each_entry_and_keeps_its_direction() -> None:
    far = FreeEntries(ALL.free, ALL.ties, ALL.low * 10.0, ALL.high * 10.0)
    found = ascend(quadratic, quadratic(SUMMIT + 50.0), np.eye(3) * 1e-3, far, max_steps=1, tolerance=1e-6)
    towards = CURVATURE.sum(axis=1)
    np.testing.assert_allclose(found.best.theta, SUMMIT + 50.0 - 2.0 * towards / np.abs(towards).max())
    assert not found.has_converged


@pytest.mark.parametrize(("is_computed", "reached"), [(True, True), (False, False)])
def test_the_curvature_is_computed_again_after_the_second_step(is_computed: bool, reached: bool) -> None:
    points = list[Array]()

    def known(there: Point) -> Array:
        points.append(there.theta)
        return CURVATURE

    start = quadratic(np.zeros(3))
    found = ascend(
        quadratic,
        start,
        np.eye(3) * 100.0,
        ALL,
        max_steps=3,
        tolerance=1e-9,
        curvature_at=known if is_computed else None,
    )
    assert bool(np.abs(found.best.theta - SUMMIT).max() < 1e-9) == reached
    assert len(points) == is_computed
    assert found.evaluations == 3


def test_a_curved_valley_is_followed_from_a_wrong_curvature() -> None:
    found = ascend(valley, valley(np.array([-1.2, 1.0, 1.0])), np.eye(3) * 100.0, ALL, max_steps=200, tolerance=1e-12)
    np.testing.assert_allclose(found.best.theta, np.ones(3), atol=1e-4)


@given(st.integers(0, 20))
def test_no_step_lowers_the_objective(steps: int) -> None:
    start = valley(np.array([-1.2, 1.0, 0.3]))
    before = ascend(valley, start, np.eye(3), ALL, max_steps=steps, tolerance=1e-12).best.value
    after = ascend(valley, start, np.eye(3), ALL, max_steps=steps + 1, tolerance=1e-12).best.value
    assert after >= before >= start.value


def test_tied_entries_move_together_and_their_slopes_add() -> None:
    tied = FreeEntries(ALL.free, np.array([0, 0, 2]), ALL.low, ALL.high)
    found = ascend(quadratic, quadratic(np.zeros(3)), tied.curvature(CURVATURE), tied, max_steps=10, tolerance=1e-9)
    assert found.best.theta[0] == found.best.theta[1]
    together = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    best = np.linalg.solve(together @ CURVATURE @ together.T, together @ CURVATURE @ SUMMIT)
    np.testing.assert_allclose(found.best.theta[[0, 2]], best, atol=1e-6)


def test_an_entry_that_is_not_free_keeps_its_value() -> None:
    some = FreeEntries(np.array([True, False, True]), ALL.ties, ALL.low, ALL.high)
    found = ascend(quadratic, quadratic(np.full(3, 0.25)), some.curvature(CURVATURE), some, max_steps=9, tolerance=1e-9)
    assert found.best.theta[1] == 0.25
    np.testing.assert_allclose(found.best.gradient[[0, 2]], 0.0, atol=1e-6)


def test_an_entry_at_a_bound_is_held_and_the_others_reach_their_maximum() -> None:
    low = np.array([-10.0, -1.0, -10.0])
    bounded = FreeEntries(ALL.free, ALL.ties, low, ALL.high)
    found = ascend(quadratic, quadratic(np.zeros(3)), CURVATURE, bounded, max_steps=20, tolerance=1e-9)
    assert found.best.theta[1] == -1.0
    np.testing.assert_allclose(found.best.gradient[[0, 2]], 0.0, atol=1e-4)
    assert found.best.gradient[1] < 0.0


def test_a_step_to_where_nothing_can_be_computed_is_shortened() -> None:
    def refusing(theta: Array) -> Point:
        if theta[0] > 0.9:
            raise NotPositiveDefiniteError("no covariance here")
        return quadratic(theta)

    found = ascend(refusing, refusing(np.zeros(3)), CURVATURE, ALL, max_steps=30, tolerance=1e-6)
    assert 0.5 < found.best.theta[0] <= 0.9


def test_an_objective_that_cannot_rise_ends_where_it_began() -> None:
    def lying(theta: Array) -> Point:
        return Point(theta, -float(theta @ theta), np.ones(3))

    found = ascend(lying, lying(np.zeros(3)), np.eye(3), ALL, max_steps=5, tolerance=1e-6)
    assert not found.best.theta.any()
    assert not found.has_converged


@given(st.integers(0, 1000))
def test_an_updated_curvature_stays_positive_definite(seed: int) -> None:
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(4, 4))
    curvature = factor @ factor.T + 0.01 * np.eye(4)
    found = updated(curvature, rng.normal(size=4), rng.normal(size=4))
    assert np.linalg.eigvalsh(found).min() > 0.0


def test_an_update_along_a_step_has_the_measured_curvature_there() -> None:
    step = np.array([0.5, -1.0, 0.25])
    found = updated(np.eye(3), step, CURVATURE @ step)
    np.testing.assert_allclose(found @ step, CURVATURE @ step)


def test_a_point_that_is_no_number_counts_as_no_rise() -> None:
    def undefined(theta: Array) -> Point:
        here = quadratic(theta)
        return here if theta[0] < 0.9 else Point(theta, float("nan"), here.gradient)

    found = ascend(undefined, undefined(np.zeros(3)), CURVATURE, ALL, max_steps=30, tolerance=1e-6)
    assert found.best.value == pytest.approx(quadratic(found.best.theta).value)
    assert found.best.theta[0] < 0.9


def test_a_rise_below_rounding_of_the_objective_is_no_rise() -> None:
    """A step promises 1e-14 nats of an objective of 806: their sum is the objective, and their difference is 0."""

    def flat(theta: Array) -> Point:
        return Point(theta, 806.5, np.full(3, 1e-7))

    found = ascend(flat, flat(np.zeros(3)), np.eye(3), ALL, max_steps=5, tolerance=1e-30)
    assert not found.best.theta.any()
    assert not found.has_converged
