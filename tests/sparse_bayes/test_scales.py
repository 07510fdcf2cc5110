import numpy as np
import pytest

from app.sparse_bayes.scales import InputMap, width_range
from app.sparse_bayes.types import Array


def by_definition(points: Array) -> tuple[float, float]:
    distances = np.array([sorted(float(np.linalg.norm(u - z)) for z in points) for u in points])
    return float(np.median(distances[:, 3])), float(distances.max())


@pytest.mark.parametrize("inputs", [1, 2, 6])
def test_widths_go_from_the_third_nearest_neighbour_to_the_diameter(inputs: int) -> None:
    X = np.random.default_rng(inputs).standard_normal((40, inputs))
    assert width_range(X) == pytest.approx(by_definition(X))


def test_rows_that_stand_twice_count_once() -> None:
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
    least, greatest = width_range(np.arange(float(points))[:, None])
    assert 0.0 < least <= greatest == points - 1.0


def test_inputs_are_divided_by_the_width() -> None:
    np.testing.assert_array_equal(InputMap(0.5)(np.array([[1.0, -2.0]])), [[2.0, -4.0]])
