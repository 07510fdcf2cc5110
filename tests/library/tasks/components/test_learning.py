import numpy as np
import pytest

from relevance_bayes.core.errors import DataError
from relevance_bayes.core.kernels import Covariance, Gaussian, Matern32
from relevance_bayes.core.kernels.hyperparameters import InputMap
from relevance_bayes.core.types import Array
from relevance_bayes.tasks.components import learning
from relevance_bayes.tasks.components.learning import (
    FOLDS,
    KeptRows,
    components,
    likelihood_gain,
    rotated,
    typical_width,
    usual_densities,
)
from relevance_bayes.tasks.components.space import Components

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
    """The closed form, with C inverted whole: [THEORY 20]."""
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
    quadratic_form = float(np.einsum("kn,kn->", phi, np.linalg.solve(C, phi)))
    isotropic = float(np.square(phi).sum()) / found.noise_variance
    assert found.evidence == pytest.approx(-0.5 * (40 * log_determinant + quadratic_form - isotropic), rel=1e-6)


def test_how_well_weights_are_determined_is_what_the_data_add_to_their_precisions() -> None:
    found = learned(heaps(40))
    K = Gaussian()(found.centres, found.centres)
    Sigma = np.linalg.inv(np.diag(1.0 / found.weights) + K / found.noise_variance)
    np.testing.assert_allclose(found.gamma, 1.0 - Sigma.diagonal() / found.weights, rtol=1e-6)


def test_derivatives_are_those_of_differences() -> None:
    X = heaps(30)
    K = Gaussian()(X, X)
    few = KeptRows(K[:5, :5], rotated(K[:5]), 0.05, 30)
    logs = np.log(np.array([0.1, 0.02, 0.5, 1e-3, 0.2]))
    slope, curvature = few.derivatives(np.exp(logs))
    assert few.value(np.exp(logs)) == pytest.approx(
        likelihood_gain(K, K, np.append(np.exp(logs), np.zeros(25)), 0.05, 30)
    )
    for m, step in enumerate(1e-5 * np.eye(5)):
        up, down = np.exp(logs + step), np.exp(logs - step)
        assert slope[m] == pytest.approx((few.value(up) - few.value(down)) / 2e-5, rel=1e-5)
        difference = (few.derivatives(up)[0] - few.derivatives(down)[0]) / 2e-5
        np.testing.assert_allclose(curvature[m], difference, rtol=1e-5, atol=1e-5)


def densities(X: Array, found: Components) -> Array:
    *done, last = usual_densities(X, found)
    assert done[-1] == FOLDS
    assert isinstance(last, np.ndarray)
    return last


@pytest.mark.thorough
def test_rows_are_as_usual_as_rows_like_them() -> None:
    """One in ten fresh rows is beyond the tenth that is least usual; what was learned from is fitted better."""
    rng = np.random.default_rng(0)
    X, fresh = rng.standard_normal((120, 12)), rng.standard_normal((2_000, 12))
    *_, found = components(X, Gaussian(), InputMap.isotropic(typical_width(X)))
    assert isinstance(found, Components)
    usual = densities(X, found)
    assert (np.diff(usual) >= 0.0).all()
    assert len(usual) == 120
    seen = found.log_density(fresh)
    assert (seen < np.quantile(usual, 0.1)).mean() == pytest.approx(0.1, abs=0.06)
    assert (seen < np.quantile(found.log_density(X), 0.1)).mean() > 0.25


def test_of_many_rows_those_not_drawn_measure_what_is_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "MAX_ROWS", 50)
    X = heaps(150)
    found = learned(X)
    others = np.setdiff1d(np.arange(150), learning.drawn(X))
    np.testing.assert_array_equal(densities(X, found), np.sort(found.log_density(X[others])))


def test_of_copies_one_is_kept() -> None:
    X = np.vstack([heaps(30), heaps(30), heaps(30)])
    found = learned(X)
    assert len(np.unique(found.centres, axis=0)) == len(found.rows)


def test_the_typical_width_is_the_median_distance_of_rows_that_differ() -> None:
    X = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [3.0, 4.0], [3.0, 5.0]])
    assert typical_width(X) == pytest.approx(5.0)
    with pytest.raises(DataError, match="all alike"):
        typical_width(X[:3])


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
    monkeypatch.setattr(learning, "MAX_ROWS", 50)
    X = heaps(200)
    found = learned(X)
    np.testing.assert_array_equal(X[found.rows], found.centres)


def test_rows_that_are_predicted_in_no_fold_are_as_new_as_can_be() -> None:
    X = np.array([[0.0], [1e-3], [50.0], [100.0], [150.0]])
    *_, found = components(X, Gaussian(), InputMap.isotropic(1.0), explained=0.5)
    assert isinstance(found, Components)
    *_, densities = usual_densities(X, found)
    assert isinstance(densities, np.ndarray)
    assert np.isfinite(densities).all()


@pytest.mark.parametrize(
    ("X", "explained", "detail"),
    [
        (np.zeros((1, 2)), 0.9, "two rows"),
        (np.array([[0.0], [np.nan]]), 0.9, "finite"),
        (np.zeros(4), 0.9, "two rows"),
        (heaps(9), 1.0, "below 1"),
        (heaps(9), 0.0, "above 0"),
        (np.zeros((5, 2)), 0.9, "all alike"),
        (1e3 * heaps(9), 0.9, "to explain 0.9, got all 9"),
        (1e3 * heaps(40), 0.9, "none is like another"),
        (1e-12 * heaps(9), 0.9, "all alike by this width"),
    ],
)
def test_what_has_no_components_is_refused(X: Array, explained: float, detail: str) -> None:
    with pytest.raises(DataError, match=detail):
        list(components(X, Gaussian(), WIDTH, explained=explained))
