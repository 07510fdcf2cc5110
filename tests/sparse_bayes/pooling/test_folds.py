from dataclasses import replace

import numpy as np
import pytest

from app.sparse_bayes.folds import random_folds
from app.sparse_bayes.hyperparameters import Hyperparameters
from app.sparse_bayes.kernels import Covariance, Gaussian, Matern32
from app.sparse_bayes.likelihoods import GaussianNoise
from app.sparse_bayes.pooling.folds import Reduced, whole_process
from app.sparse_bayes.process import Rows, Vectors, bound
from app.sparse_bayes.scales import InputMap
from app.sparse_bayes.types import Array, Indices

H = Hyperparameters(30.0, 1.7, np.array([0.2, 1.5, 1.5]), InputMap(np.array([0.8, 1.6])))
each_kernel = pytest.mark.parametrize("kernel", [Gaussian(), Matern32()], ids=["gaussian", "matern"])


def drawn(*, noise_by_row: bool = False) -> tuple[Rows, list[Indices]]:
    rng = np.random.default_rng(5)
    X = rng.standard_normal((40, 2))
    t = np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 1] + 0.2 * rng.standard_normal(40)
    precisions = rng.uniform(0.5, 2.0, 40) if noise_by_row else None
    return Rows(X, t, np.column_stack([np.ones(40), X]), precisions), [fold for _, fold in random_folds(X, t, 4, 0)]


def taken(rows: Rows, chosen: Indices) -> Rows:
    precisions = None if rows.precisions is None else rows.precisions[chosen]
    return Rows(rows.X[chosen], rows.t[chosen], rows.F[chosen], precisions)


def noise(rows: Rows) -> Array:
    return np.broadcast_to(1.0 / np.asarray(rows.precision(H.beta)), len(rows.t))


@each_kernel
@pytest.mark.parametrize("noise_by_row", [False, True])
def test_a_fold_is_predicted_as_by_the_process_on_all_other_rows(kernel: Covariance, *, noise_by_row: bool) -> None:
    rows, folds = drawn(noise_by_row=noise_by_row)
    mean, variance = whole_process(rows, kernel, H, folds)
    U = H.input_map(rows.X)
    prior = H.amplitude * kernel(U, U) + (rows.F / H.alpha) @ rows.F.T
    for fold in folds:
        others = np.setdiff1d(np.arange(40), fold)
        C = prior[np.ix_(others, others)] + np.diag(noise(rows)[others])
        gain = np.linalg.solve(C, prior[np.ix_(others, fold)]).T
        np.testing.assert_allclose(mean[fold], gain @ rows.t[others], rtol=1e-9, atol=1e-10)
        expected = prior[np.ix_(fold, fold)] - gain @ prior[np.ix_(others, fold)] + np.diag(noise(rows)[fold])
        np.testing.assert_allclose(variance[fold], expected.diagonal(), rtol=1e-9)


@each_kernel
@pytest.mark.parametrize("functions", [0, 1, 5, 12])
def test_a_fold_is_predicted_by_functions_on_other_rows_learned_on_those(kernel: Covariance, functions: int) -> None:
    rows, folds = drawn()
    places = np.random.default_rng(2).permutation(40)[:20]
    h = replace(H, jitter=1e-7)
    mean, variance = Reduced.of(rows, places, kernel, h, folds).predicted(functions)
    for fold in folds:
        others = np.setdiff1d(np.arange(40), fold)
        first = places[np.isin(places, others)][:functions]
        vectors = Vectors(first, rows.X[first])
        found = bound(taken(rows, others), vectors, kernel, GaussianNoise(), h).settled.posterior
        there = bound(rows, vectors, kernel, GaussianNoise(), h)
        P = there.P[fold]
        np.testing.assert_allclose(mean[fold], P @ found.mean, rtol=1e-7, atol=1e-8)
        expected = np.einsum("nr,rs,ns->n", P, found.covariance, P) + H.amplitude * there.left[fold] + 1.0 / H.beta
        np.testing.assert_allclose(variance[fold], expected, rtol=1e-7)


def test_through_a_function_for_each_row_the_whole_process_predicts() -> None:
    rows, folds = drawn(noise_by_row=True)
    reduced = Reduced.of(rows, np.arange(40), Matern32(), replace(H, jitter=1e-10), folds)
    for found, expected in zip(reduced.predicted(40), whole_process(rows, Matern32(), H, folds), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
