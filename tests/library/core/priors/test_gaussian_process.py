import numpy as np
import pytest

from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.linalg import solve_lower
from relevance_bayes.core.priors import JITTER, Whitening
from relevance_bayes.core.types import Array
from tests.library.core.drawn import by_differences

RNG = np.random.default_rng(0)
X, Z = RNG.normal(0.0, 1.0, (9, 2)), RNG.normal(0.0, 1.0, (4, 2))
E, KERNEL = Gaussian()(X, Z), Gaussian()(Z, Z)
E_mm = KERNEL + JITTER * np.eye(4)


def test_what_is_explained_and_what_is_left_are_the_prior_variance() -> None:
    whitening = Whitening.of(KERNEL)
    B = whitening.columns(E)
    explained = E @ np.linalg.solve(E_mm, E.T)
    np.testing.assert_allclose(B @ B.T, explained, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(whitening.left(B), 1.0 - explained.diagonal(), rtol=1e-9)


@pytest.mark.parametrize(("inputs", "width"), [(1, 1.0), (2, 1.0), (4, 2.0), (8, 3.0)])
def test_rows_are_whitened_as_accurately_by_the_inverse_as_by_a_triangular_solution(inputs: int, width: float) -> None:
    """Both against substitution in extended precision, and against what the rounding of the factor itself is worth."""
    rng, m = np.random.default_rng(1), 200
    V, rows = rng.standard_normal((m, inputs)) / width, rng.standard_normal((50, inputs)) / width
    whitening, E = Whitening.of(Gaussian()(V, V)), Gaussian()(rows, V)
    lower = whitening.lower.astype(np.longdouble)
    exact = np.zeros(E.shape, np.longdouble)
    for j in range(m):
        exact[:, j] = (E[:, j] - exact[:, :j] @ lower[j, :j]) / lower[j, j]
    solved, B = solve_lower(whitening.lower, E.T).T, whitening.columns(E)
    error = float(np.abs(B - exact).max())
    assert error <= max(2.0 * float(np.abs(solved - exact).max()), 1e-15)
    assert error < 2e-12
    left = np.asarray(1.0 - np.square(exact).sum(axis=1), np.float64)
    np.testing.assert_allclose(whitening.left(B), np.maximum(left, 0.0), rtol=1e-8, atol=2e-13)


def test_weights_lead_back_to_the_functions_themselves() -> None:
    whitening = Whitening.of(KERNEL)
    B = whitening.columns(E)
    for whitened in (RNG.standard_normal(4), RNG.standard_normal((4, 3))):
        np.testing.assert_allclose(E @ whitening.weights(whitened), B @ whitened, rtol=1e-9, atol=1e-12)


def test_independent_weights_are_the_process_at_its_vectors() -> None:
    """Weights of E under N(0, E_mm^-1) are L^-T w under N(0, 1)."""
    unwhitened = Whitening.of(KERNEL).weights(np.eye(4))
    np.testing.assert_allclose(unwhitened @ unwhitened.T @ E_mm, np.eye(4), atol=1e-9)


def test_at_a_vector_nothing_but_the_jitter_is_left() -> None:
    whitening = Whitening.of(KERNEL)
    left = whitening.left(whitening.columns(KERNEL))
    assert (left >= 0.0).all()
    assert (left <= JITTER).all()


def test_a_point_twice_needs_the_jitter_and_an_indefinite_kernel_is_refused() -> None:
    twice = np.vstack([Z, Z])
    assert np.isfinite(Whitening.of(Gaussian()(twice, twice)).lower).all()
    with pytest.raises(NotPositiveDefiniteError):
        Whitening.of(np.array([[1.0, 2.0], [2.0, 1.0]]))


def test_without_vectors_all_is_left() -> None:
    whitening = Whitening.of(np.empty((0, 0)))
    B = whitening.columns(np.empty((5, 0)))
    assert B.shape == (5, 0)
    np.testing.assert_array_equal(whitening.left(B), 1.0)
    assert whitening.weights(np.empty(0)).shape == (0,)
    D_E, D_mm = whitening.pull_columns(np.empty((5, 0))), whitening.pull_factor(np.empty((5, 0)).T @ B)
    assert (D_E.shape, D_mm.shape) == ((5, 0), (0, 0))


def curved(B: Array) -> float:
    """A number that depends on every entry of B in its own way."""
    weights = np.cos(np.arange(B.size)).reshape(B.shape)
    return float((weights * B + np.sin(B) ** 2 / (1.0 + np.arange(B.size).reshape(B.shape))).sum())


def curved_slope(B: Array) -> Array:
    steps = np.arange(B.size).reshape(B.shape)
    return np.asarray(np.cos(steps) + np.sin(2.0 * B) / (1.0 + steps))


def test_the_pull_is_the_gradient_in_the_columns_and_in_the_kernel_of_the_vectors() -> None:
    whitening = Whitening.of(KERNEL)
    B = whitening.columns(E)
    D = curved_slope(B)
    D_E, D_mm = whitening.pull_columns(D), whitening.pull_factor(D.T @ B)

    def of_columns(flat: Array) -> float:
        return curved(whitening.columns(flat.reshape(E.shape)))

    def of_kernel(flat: Array) -> float:
        moved = flat.reshape(KERNEL.shape)
        return curved(Whitening.of(0.5 * (moved + moved.T)).columns(E))

    np.testing.assert_allclose(D_E.ravel(), by_differences(of_columns, E.ravel(), 1e-6), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(D_mm, D_mm.T, rtol=1e-12)
    np.testing.assert_allclose(D_mm.ravel(), by_differences(of_kernel, KERNEL.ravel(), 1e-6), rtol=1e-6, atol=1e-6)
