from collections.abc import Callable

import numpy as np
import pytest

from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.core.linalg import (
    cholesky,
    factors_of_sum,
    inverse_from_cholesky,
    inverse_of_lower,
    inverse_of_upper,
    light_cholesky,
    log_determinant,
    orthonormal,
    solve_lower,
    solve_lower_transposed,
    solve_with_cholesky,
    squared_distances,
    times_lower,
    times_lower_transposed,
)
from relevance_bayes.core.types import Array

Solve = Callable[[Array, Array], Array]


def positive_definite(order: int) -> Array:
    half = np.random.default_rng(order).standard_normal((order, order + 3))
    product: Array = half @ half.T
    return product


@pytest.mark.parametrize("order", [1, 2, 7])
def test_one_factor_gives_the_matrix_its_determinant_its_inverse_and_solutions(order: int) -> None:
    matrix = positive_definite(order)
    before = matrix.copy()
    lower = cholesky(matrix)
    right = np.arange(1.0, order + 1.0)
    assert np.array_equal(matrix, before)
    assert np.array_equal(lower, np.tril(lower))
    np.testing.assert_allclose(lower @ lower.T, matrix, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(log_determinant(lower), np.linalg.slogdet(matrix)[1], rtol=1e-12)
    np.testing.assert_allclose(inverse_from_cholesky(lower), np.linalg.solve(matrix, np.eye(order)), rtol=1e-8)
    np.testing.assert_allclose(solve_with_cholesky(lower, right), np.linalg.solve(matrix, right), rtol=1e-8)


@pytest.mark.parametrize("order", [0, 1, 7, 60])
def test_factors_for_predictions_are_those_for_fits(order: int) -> None:
    matrix = positive_definite(order)
    lower = light_cholesky(matrix)
    np.testing.assert_allclose(lower, cholesky(matrix), rtol=1e-12, atol=1e-12)
    inverse = inverse_of_upper(lower.T)
    np.testing.assert_allclose(inverse, solve_lower_transposed(lower, np.eye(order)), rtol=1e-12, atol=1e-12)


def test_an_upper_triangle_of_any_scales_has_an_exact_inverse() -> None:
    upper = np.array([[1e-9, 1.0, -1e9], [0.0, 1e-9, 1e-3], [0.0, 0.0, 1e9]])
    np.testing.assert_allclose(upper @ inverse_of_upper(upper), np.eye(3), atol=1e-6)
    assert np.array_equal(inverse_of_upper(upper), solve_lower_transposed(upper.T, np.eye(3)))


def test_the_inverse_is_symmetric_to_the_bit() -> None:
    inverse = inverse_from_cholesky(cholesky(positive_definite(9)))
    assert np.array_equal(inverse, inverse.T)


def test_a_matrix_of_order_zero_has_a_factor_too() -> None:
    lower = cholesky(np.empty((0, 0)))
    assert log_determinant(lower) == 0.0
    assert inverse_from_cholesky(lower).shape == (0, 0)
    assert solve_with_cholesky(lower, np.empty(0)).shape == (0,)


@pytest.mark.parametrize("order", [1, 2, 7])
@pytest.mark.parametrize("columns", [(), (1,), (4,)], ids=["a vector", "a column", "columns"])
def test_a_triangle_is_solved_from_either_side(order: int, columns: tuple[int, ...]) -> None:
    lower = cholesky(positive_definite(order))
    right = np.random.default_rng(0).standard_normal((order, *columns))
    before = right.copy()
    np.testing.assert_allclose(solve_lower(lower, right), np.linalg.solve(lower, right), rtol=1e-9)
    np.testing.assert_allclose(solve_lower_transposed(lower, right), np.linalg.solve(lower.T, right), rtol=1e-9)
    assert np.array_equal(right, before)


def test_a_right_side_in_any_order_of_memory_is_solved() -> None:
    lower, right = cholesky(positive_definite(5)), np.random.default_rng(0).standard_normal((3, 5))
    for solve in (solve_lower, solve_lower_transposed):
        np.testing.assert_array_equal(solve(lower, right.T), solve(lower, np.ascontiguousarray(right.T)))
        np.testing.assert_array_equal(solve(np.ascontiguousarray(lower), right.T), solve(lower, right.T))


@pytest.mark.parametrize("solve", [solve_lower, solve_lower_transposed])
def test_a_triangle_without_rows_or_a_right_side_without_columns_is_solved(solve: Solve) -> None:
    assert solve(np.empty((0, 0)), np.empty(0)).shape == (0,)
    assert solve(np.empty((0, 0)), np.empty((0, 3))).shape == (0, 3)
    assert solve(np.eye(3), np.empty((3, 0))).shape == (3, 0)


def test_an_indefinite_matrix_is_refused_for_predictions_too() -> None:
    with pytest.raises(NotPositiveDefiniteError, match="of order 2"):
        light_cholesky(np.array([[1.0, 2.0], [2.0, 1.0]]))


def test_an_indefinite_matrix_is_refused_with_the_minor_that_fails() -> None:
    with pytest.raises(NotPositiveDefiniteError, match="order 2, leading minor 2"):
        cholesky(np.array([[1.0, 2.0], [2.0, 1.0]]))


@pytest.mark.parametrize("inputs", [1, 3, 4, 8])
def test_squared_distances_are_what_their_name_states(inputs: int) -> None:
    rng = np.random.default_rng(inputs)
    U, Z = rng.standard_normal((6, inputs)), rng.standard_normal((5, inputs))
    by_hand = np.array([[np.sum((u - z) ** 2) for z in Z] for u in U])
    np.testing.assert_allclose(squared_distances(U, Z), by_hand, rtol=1e-12)


@pytest.mark.parametrize("inputs", [1, 3, 4, 8])
@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_squared_distances_survive_a_large_offset(inputs: int, offset: float) -> None:
    rng = np.random.default_rng(inputs)
    U, Z = rng.standard_normal((6, inputs)), rng.standard_normal((5, inputs))
    # The offset itself rounds the points; distances are compared between the points as rounded.
    far_U, far_Z = U + offset, Z + offset
    np.testing.assert_allclose(
        squared_distances(far_U, far_Z), squared_distances(far_U - offset, far_Z - offset), rtol=1e-9
    )


@pytest.mark.parametrize("inputs", [1, 3, 4, 9])
def test_squared_distances_to_one_point_are_those_to_it_among_others(inputs: int) -> None:
    rng = np.random.default_rng(inputs)
    U, Z = rng.normal(size=(7, inputs)), rng.normal(size=(3, inputs))
    alone = np.hstack([squared_distances(U, z[None, :]) for z in Z])
    np.testing.assert_allclose(alone, squared_distances(U, Z), rtol=1e-12)


@pytest.mark.parametrize("inputs", [2, 6])
def test_a_point_has_no_distance_from_itself_and_none_is_negative(inputs: int) -> None:
    U = 1e4 + np.random.default_rng(0).standard_normal((20, inputs))
    distances = squared_distances(U, U)
    assert distances.min() >= 0.0
    np.testing.assert_allclose(distances.diagonal(), 0.0, atol=1e-12)


@pytest.mark.parametrize("inputs", [4, 9])
def test_one_far_point_takes_nothing_from_the_distances_of_the_others(inputs: int) -> None:
    U = np.random.default_rng(inputs).standard_normal((20, inputs))
    near = squared_distances(U[1:], U[1:])
    U[0, 1] = 1e8
    distances = squared_distances(U, U)
    np.testing.assert_allclose(distances[1:, 1:], near, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(distances.diagonal(), 0.0, atol=1e-12)
    U[0] = np.nan
    np.testing.assert_allclose(squared_distances(U, U[1:])[1:], near, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e4])
def test_the_factor_of_a_sum_with_the_identity_is_choleskys_but_for_signs(size: float) -> None:
    Y = size * np.random.default_rng(3).standard_normal((9, 4))
    lower, reached = factors_of_sum(Y)
    np.testing.assert_allclose(reached @ lower.T, Y, rtol=1e-9, atol=1e-12 * size)
    assert np.array_equal(lower, np.tril(lower))
    np.testing.assert_allclose(np.abs(lower), np.abs(cholesky(np.eye(4) + Y.T @ Y)), rtol=1e-7)


def test_the_identity_is_not_lost_beside_a_sum_that_is_singular_and_large() -> None:
    Y = np.full((5, 2), 1e10)
    with pytest.raises(NotPositiveDefiniteError):
        cholesky(np.eye(2) + Y.T @ Y)
    difference = solve_lower(factors_of_sum(Y)[0], np.array([1.0, -1.0]))
    assert float(difference @ difference) == pytest.approx(2.0, rel=1e-5)


def test_an_orthonormal_basis_spans_columns_that_are_nearly_alike() -> None:
    rng = np.random.default_rng(0)
    columns = rng.standard_normal((20, 1)) + 1e-7 * rng.standard_normal((20, 4))
    basis = orthonormal(columns)
    np.testing.assert_allclose(basis.T @ basis, np.eye(4), atol=1e-14)
    np.testing.assert_allclose(basis @ (basis.T @ columns), columns, atol=1e-14)
    assert orthonormal(np.empty((20, 0))).shape == (20, 0)


@pytest.mark.parametrize("order", [0, 1, 63, 64, 65, 150])
def test_products_with_a_triangle_are_those_with_all_of_it(order: int) -> None:
    lower = np.tril(np.random.default_rng(0).standard_normal((order, order)))
    left = np.random.default_rng(1).standard_normal((9, order))
    np.testing.assert_allclose(times_lower(left, lower), left @ lower, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(times_lower_transposed(left, lower), left @ lower.T, rtol=1e-12, atol=1e-12)
    wide = np.full((9, order + 2), 7.0)
    times_lower_transposed(left, lower, out=wide[:, 2:])
    np.testing.assert_array_equal(wide[:, 2:], times_lower_transposed(left, lower))
    np.testing.assert_array_equal(wide[:, :2], 7.0)


@pytest.mark.parametrize("order", [0, 1, 7])
def test_a_lower_triangle_has_an_inverse(order: int) -> None:
    lower = cholesky(positive_definite(order))
    before = lower.copy()
    inverse = inverse_of_lower(lower)
    np.testing.assert_allclose(inverse @ lower, np.eye(order), atol=1e-12)
    assert np.array_equal(inverse, np.tril(inverse))
    assert np.array_equal(lower, before)
