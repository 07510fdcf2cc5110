import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import rosen, rosen_der

from relevance_bayes.core.algorithms.hyperparameter_space import Objective, maximise
from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.core.types import Array

ALL = np.ones(3, np.bool_)
WIDE = (np.full(3, -10.0), np.full(3, 10.0))
SUMMIT = np.array([1.0, -2.0, 0.5])
CURVATURE = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 1.0]])


def quadratic(place: Array) -> tuple[float, Array]:
    """Greatest at the summit, where it is 7."""
    slope = -CURVATURE @ (place - SUMMIT)
    return 7.0 + 0.5 * float(slope @ (place - SUMMIT)), slope


def valley(place: Array) -> tuple[float, Array]:
    return -float(rosen(place)), -np.asarray(rosen_der(place))


def refusing_beyond(limit: float) -> Objective:
    """The quadratic, where the first coordinate is below the limit."""

    def objective(place: Array) -> tuple[float, Array]:
        if place[0] > limit:
            raise NotPositiveDefiniteError("no covariance here")
        return quadratic(place)

    return objective


def test_a_quadratic_is_solved() -> None:
    place, value = maximise(quadratic, np.zeros(3), ALL, WIDE, 60)
    np.testing.assert_allclose(place, SUMMIT, atol=1e-2)
    assert value == pytest.approx(7.0, abs=1e-4)
    assert value == quadratic(place)[0]


def test_only_what_is_free_moves() -> None:
    start = np.array([0.3, 0.4, -0.2])
    free = np.array([True, False, True])
    place, _ = maximise(quadratic, start, free, WIDE, 60)
    assert place[1] == 0.4
    on_the_line = np.linalg.solve(CURVATURE[np.ix_(free, free)], -CURVATURE[free, 1] * (0.4 - SUMMIT[1]))
    np.testing.assert_allclose(place[free] - SUMMIT[free], on_the_line, atol=1e-2)


def test_the_box_is_never_left() -> None:
    seen: list[Array] = []

    def watched(place: Array) -> tuple[float, Array]:
        seen.append(place.copy())
        return quadratic(place)

    low, high = np.array([-1.0, -1.0, -1.0]), np.array([0.5, 1.0, 1.0])
    place, _ = maximise(watched, np.zeros(3), ALL, (low, high), 60)
    assert place[0] == 0.5
    assert place[1] == -1.0
    assert all(((low <= tried) & (tried <= high)).all() for tried in seen)


def test_a_start_outside_the_box_is_put_on_its_edge() -> None:
    low, high = np.full(3, 2.0), np.full(3, 3.0)
    place, value = maximise(quadratic, np.array([9.0, 2.5, -4.0]), ALL, (low, high), 60)
    assert (low <= place).all()
    assert (place <= high).all()
    assert value == quadratic(place)[0]


def test_what_is_not_free_need_not_be_in_the_box() -> None:
    place, _ = maximise(quadratic, np.array([0.0, 99.0, 0.0]), np.array([True, False, True]), WIDE, 20)
    assert place[1] == 99.0


@pytest.mark.parametrize("iterations", [1, 5])
def test_few_iterations_leave_it_on_the_way(iterations: int) -> None:
    start = np.array([-1.2, 1.0, 1.0])
    _, little = maximise(valley, start, ALL, WIDE, iterations)
    _, much = maximise(valley, start, ALL, WIDE, 100)
    assert valley(start)[0] < little < much


@given(st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3), st.integers(1, 30))
def test_it_never_ends_below_the_start_and_reports_what_it_reached(start: list[float], iterations: int) -> None:
    place, value = maximise(valley, np.array(start), ALL, WIDE, iterations)
    assert value >= valley(np.array(start))[0]
    assert value == valley(place)[0]


@pytest.mark.parametrize("seed", range(4))
def test_the_best_of_all_it_visited_is_what_it_returns(seed: int) -> None:
    """A gradient that is not quite the objective's sends the search astray."""
    evaluated: list[tuple[float, list[float]]] = []

    def rough(place: Array) -> tuple[float, Array]:
        value, slope = valley(place)
        value += 5.0 * float(np.sin(40.0 * place + seed).sum())
        evaluated.append((value, place.tolist()))
        return value, slope

    place, value = maximise(rough, np.array([-1.2, 1.0, 1.0]), ALL, WIDE, 30)
    assert len(evaluated) > 3
    assert (value, place.tolist()) == max(evaluated)


@pytest.mark.parametrize("limit", [-0.5, 0.2, 0.99])
def test_where_a_matrix_is_lost_the_best_before_stays(limit: float) -> None:
    start = np.array([-1.0, 0.0, 0.0])
    objective = refusing_beyond(limit)
    place, value = maximise(objective, start, ALL, WIDE, 60)
    assert place[0] <= limit
    assert value == quadratic(place)[0] > quadratic(start)[0]


def test_where_the_start_itself_is_refused_it_stays_there() -> None:
    start = np.array([5.0, 0.0, 0.0])
    place, value = maximise(refusing_beyond(-20.0), start, ALL, WIDE, 60)
    np.testing.assert_array_equal(place, start)
    assert value == -np.inf


def test_the_start_is_not_changed() -> None:
    start = np.zeros(3)
    maximise(quadratic, start, ALL, WIDE, 5)
    np.testing.assert_array_equal(start, 0.0)


def test_units_change_no_summit_and_hold_bounds_and_ties() -> None:
    units, box = np.array([1.0, 5.0, 0.2]), (np.array([-10.0, -1.0, -10.0]), np.full(3, 10.0))
    place, value = maximise(quadratic, np.zeros(3), ALL, box, 60, units=units)
    other, same = maximise(quadratic, np.zeros(3), ALL, box, 60)
    assert place[1] == -1.0
    np.testing.assert_allclose(place, other, atol=1e-2)
    assert value == pytest.approx(same, abs=1e-4)
    tied, _ = maximise(quadratic, np.zeros(3), ALL, WIDE, 60, units=units, ties=np.array([0, 1, 0]))
    assert tied[0] == tied[2]


def test_units_of_the_curvature_reach_the_summit_in_fewer_evaluations() -> None:
    curvatures = np.geomspace(1.0, 1e4, 20)
    evaluations = 0

    def stretched(place: Array) -> tuple[float, Array]:
        nonlocal evaluations
        evaluations += 1
        return -0.5 * float(curvatures @ np.square(place)), -curvatures * place

    needed = []
    for units in (None, 1.0 / np.sqrt(curvatures)):
        evaluations = 0
        box = (np.full(20, -10.0), np.full(20, 10.0))
        _, value = maximise(stretched, np.ones(20), np.ones(20, np.bool_), box, 200, flat=1e-14, units=units)
        assert value == pytest.approx(0.0, abs=1e-4)
        needed.append(evaluations)
    assert needed[1] < 0.5 * needed[0]
