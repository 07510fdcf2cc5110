import numpy as np
import pytest

from app.sparse_bayes import components as of
from app.sparse_bayes.components import Components, components
from app.sparse_bayes.coordinates import coordinates
from app.sparse_bayes.errors import DataError
from app.sparse_bayes.kernels import Covariance, Gaussian, Matern32
from app.sparse_bayes.scales import InputMap
from app.sparse_bayes.types import Array

SMOOTH = Gaussian()
WIDTH = InputMap.isotropic(1.0)


def heaps(rows: int, seed: int = 0) -> Array:
    """Three of them, in the plane."""
    rng = np.random.default_rng(seed)
    return np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])[rng.integers(0, 3, rows)] + 0.3 * rng.standard_normal(
        (rows, 2)
    )


def learned(X: Array, kernel: Covariance = SMOOTH, explained: float = 0.9) -> Components:
    *_, last = components(X, kernel, WIDTH, explained=explained)
    assert isinstance(last, Components)
    return last


def images(K: Array) -> Array:
    """Coordinates (k, N) by another road: from the eigenvectors."""
    values, vectors = np.linalg.eigh(K)
    there = values > 1e-13 * values[-1]
    return np.asarray(np.sqrt(values[there])[:, None] * vectors[:, there].T)


@pytest.mark.parametrize("kernel", [Gaussian(), Matern32()], ids=repr)
def test_no_weight_can_be_bettered(kernel: Covariance) -> None:
    """The closed form, with C inverted whole: [SCIENCE 5]."""
    X = heaps(60)
    found = learned(X, kernel)
    phi = images(kernel(X, X))
    C = found.noise_variance * np.eye(len(phi)) + (phi[:, found.rows] * found.weights) @ phi[:, found.rows].T
    for m in range(60):
        inside = np.flatnonzero(found.rows == m)
        w = float(found.weights[inside[0]]) if len(inside) else 0.0
        without = np.linalg.inv(C - w * np.outer(phi[:, m], phi[:, m]))
        s = float(phi[:, m] @ without @ phi[:, m])
        square = float(np.mean((phi[:, m] @ without @ phi) ** 2))
        if w:
            assert w == pytest.approx((square - s) / s**2, rel=1e-4)
        else:
            ratio = max(square / s, 1.0)
            assert 0.5 * 60 * (ratio - 1.0 - np.log(ratio)) < 0.05  # nats that it would bring


def test_the_evidence_is_that_of_the_images() -> None:
    X = heaps(40)
    found = learned(X)
    phi = images(Gaussian()(X, X))
    C = found.noise_variance * np.eye(len(phi)) + (phi[:, found.rows] * found.weights) @ phi[:, found.rows].T
    _, log_determinant = np.linalg.slogdet(C / found.noise_variance)
    misfit = float(np.einsum("kn,kn->", phi, np.linalg.solve(C, phi)))
    isotropic = float(np.square(phi).sum()) / found.noise_variance
    *_, alone = components(X, Gaussian(), WIDTH)
    assert isinstance(alone, Components)
    # What is left of the coordinates' number cancels in the gain over weights of 0.
    ranks = coordinates(40, lambda numbers: Gaussian()(X[numbers], X), most=40).shape[0]
    zero = -0.5 * (40 * ranks * np.log(2.0 * np.pi * found.noise_variance) + isotropic)
    assert found.evidence - zero == pytest.approx(-0.5 * (40 * log_determinant + misfit - isotropic), rel=1e-6)


def test_projections_and_what_is_missed_are_those_in_coordinates() -> None:
    X, new = heaps(50), heaps(20, seed=1)
    found = learned(X)
    every = np.vstack([X, new])
    phi = images(Gaussian()(every, every))
    signal = (phi[:, found.rows] * found.weights) @ phi[:, found.rows].T
    values, vectors = np.linalg.eigh(signal)
    Q = len(found.variances)
    np.testing.assert_allclose(found.variances, values[::-1][:Q], rtol=1e-6)
    expected = phi[:, 50:].T @ vectors[:, ::-1][:, :Q]
    projected = found.project(new)
    signs = np.sign((expected * projected).sum(axis=0))
    np.testing.assert_allclose(projected, expected * signs, atol=1e-6)
    for components_kept in (1, 2, Q):
        axes = vectors[:, ::-1][:, :components_kept]
        left = phi[:, 50:] - axes @ (axes.T @ phi[:, 50:])
        np.testing.assert_allclose(found.missed(new, components_kept), np.square(left).sum(axis=0), atol=1e-6)


def test_the_log_density_is_a_gaussians() -> None:
    X, new = heaps(50), heaps(10, seed=2)
    found = learned(X)
    every = np.vstack([X, new])
    phi = images(Gaussian()(every, every))
    C = found.noise_variance * np.eye(len(phi)) + (phi[:, found.rows] * found.weights) @ phi[:, found.rows].T
    _, log_determinant = np.linalg.slogdet(C / found.noise_variance)
    expected = -0.5 * (np.einsum("kn,kn->n", phi[:, 50:], np.linalg.solve(C, phi[:, 50:])) + log_determinant)
    np.testing.assert_allclose(found.log_density(new), expected, rtol=1e-5)


def test_three_heaps_need_about_three_rows_and_what_lies_apart_is_new() -> None:
    found = learned(heaps(300), explained=0.8)
    assert 3 <= len(found.rows) <= 12
    usual = np.quantile(found.log_density(heaps(300, seed=3)), 0.02)
    apart = np.array([[1.5, 1.5], [6.0, 6.0], [-2.0, 1.0], [3.0, 3.0]])
    assert (found.log_density(apart) < usual).all()
    assert (found.missed(apart) > 0.5).all()


def test_the_same_rows_in_another_order_are_kept() -> None:
    X = heaps(80)
    turned = np.random.default_rng(0).permutation(80)
    np.testing.assert_allclose(
        np.sort(learned(X[turned]).centres, axis=0), np.sort(learned(X).centres, axis=0), atol=1e-12
    )


def test_of_many_rows_some_are_learned_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of, "MOST_ROWS", 50)
    X = heaps(200)
    found = learned(X)
    np.testing.assert_array_equal(X[found.rows], found.centres)


@pytest.mark.parametrize(
    ("X", "explained", "detail"),
    [
        (np.zeros((1, 2)), 0.9, "two rows"),
        (np.array([[0.0], [np.nan]]), 0.9, "finite"),
        (np.zeros(4), 0.9, "two rows"),
        (heaps(9), 1.0, "below 1"),
        (heaps(9), 0.0, "above 0"),
        (np.zeros((5, 2)), 0.9, "all alike"),
    ],
)
def test_what_has_no_components_is_refused(X: Array, explained: float, detail: str) -> None:
    with pytest.raises(DataError, match=detail):
        list(components(X, Gaussian(), WIDTH, explained=explained))
