"""Factors and inverses in place, beside those of numpy."""

import numpy as np
import pytest

from relevance_bayes.core import linalg
from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.core.types import Array

ORDERS = (1, 7, linalg.MAX_UNDIVIDED, linalg.MAX_UNDIVIDED + 1, 3 * linalg.MAX_UNDIVIDED + 5)


def drawn(order: int) -> tuple[Array, Array, Array]:
    """A positive definite matrix, its factor L with other numbers in the other triangle, and right-hand sides."""
    rng = np.random.default_rng(order)
    root = rng.normal(size=(order, order))
    matrix = root @ root.T / order + np.eye(order)
    upper = np.triu(matrix) + np.tril(np.full((order, order), 77.0), -1)
    return matrix, linalg.factorise(upper), rng.normal(size=(order, 3))


@pytest.mark.parametrize("order", ORDERS)
def test_the_upper_triangle_alone_is_factorised_and_inverted(order: int) -> None:
    matrix, factor, _ = drawn(order)
    np.testing.assert_allclose(np.triu(factor), np.linalg.cholesky(matrix).T, atol=1e-12)
    inverse = linalg.inverse_of_factor(factor, np.empty((order, order)))
    upper = np.triu(inverse)
    np.testing.assert_allclose(matrix @ (upper + np.triu(upper, 1).T), np.eye(order), atol=1e-10)


@pytest.mark.parametrize("order", ORDERS)
def test_solutions_and_products_are_those_of_numpy(order: int) -> None:
    matrix, factor, right = drawn(order)
    lower = np.linalg.cholesky(matrix)
    np.testing.assert_allclose(linalg.solve_with_factor(factor, right), np.linalg.solve(matrix, right), atol=1e-10)
    np.testing.assert_allclose(linalg.solve_triangle(factor, right), np.linalg.solve(lower, right), atol=1e-10)
    transposed = linalg.solve_triangle(factor, right, transposed=True)
    np.testing.assert_allclose(transposed, np.linalg.solve(lower.T, right), atol=1e-10)
    np.testing.assert_allclose(linalg.solve_columns(factor, right.copy()), np.linalg.solve(lower, right), atol=1e-10)
    rows = linalg.solve_rows(factor, right.T.copy(order="C"))
    np.testing.assert_allclose(rows.T, np.linalg.solve(lower, right), atol=1e-10)
    np.testing.assert_allclose(linalg.triangular_product(factor, right), lower @ right, atol=1e-10)
    upper = np.triu(matrix) + np.tril(np.full((order, order), 77.0), -1)
    np.testing.assert_allclose(linalg.symmetric_product(upper, right), matrix @ right, atol=1e-10)


def test_right_hand_sides_stay_as_they_are() -> None:
    _, factor, right = drawn(7)
    before = np.asfortranarray(right)
    linalg.solve_with_factor(factor, before)
    linalg.solve_triangle(factor, before)
    linalg.triangular_product(factor, before)
    linalg.symmetric_product(factor, before)
    np.testing.assert_array_equal(before, right)


def test_a_matrix_that_is_not_positive_definite_is_an_error() -> None:
    with pytest.raises(NotPositiveDefiniteError, match="of order 3, leading minor 2 is not"):
        linalg.factorise(np.diag([1.0, -1.0, 1.0]))
