"""Columns of functions that are computed in each pass give what stored ones do, in a part of the memory."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from relevance_bayes.core import linalg
from relevance_bayes.core.inference import process
from relevance_bayes.core.inference.posterior import Columns
from relevance_bayes.core.inference.process import ProcessRows, Vectors, bound, bound_gradient
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.kernels.hyperparameters import Hyperparameters, InputMap
from relevance_bayes.core.likelihoods import Bernoulli, GaussianNoise, Likelihood, Poisson
from relevance_bayes.core.linalg import squared_products

LIKELIHOODS: tuple[Likelihood, ...] = (GaussianNoise(), Bernoulli(), Poisson())


def drawn(N: int, m: int) -> tuple[ProcessRows, Vectors, Hyperparameters]:
    """Rows of two classes, of which the first m are inducing points."""
    rng = np.random.default_rng(0)
    X, places = rng.standard_normal((N, 3)), np.arange(m)
    rows = ProcessRows(X, (X.sum(axis=1) + rng.standard_normal(N) > 0.0).astype(np.float64), np.ones((N, 1)))
    return rows, Vectors(places, X[places]), Hyperparameters(1.0, 1.0, np.ones(1), InputMap(np.full(3, 2.0)))


def test_products_in_pieces_are_those_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linalg, "PIECE_BYTES", 8 * 5 * 7)
    rng = np.random.default_rng(1)
    P, w, g = rng.standard_normal((50, 5)), rng.standard_normal(5), rng.standard_normal((50, 2))
    lam, lower = rng.random(50), np.tril(rng.standard_normal((5, 5)))
    columns = Columns.stored(P)
    assert len(list(columns.pieces())) == 8
    np.testing.assert_array_equal(columns.array(), P)
    np.testing.assert_allclose(columns.times(w), P @ w, rtol=1e-13)
    np.testing.assert_allclose(columns.transposed_times(g), P.T @ g, rtol=1e-12)
    np.testing.assert_allclose(columns.weighted_squares(w), np.square(P) @ w, rtol=1e-12)
    np.testing.assert_allclose(columns.gram(lam), P.T @ (lam[:, None] * P), rtol=1e-12)
    np.testing.assert_allclose(columns.squared_products(lower), np.square(P @ lower.T).sum(axis=1), rtol=1e-12)
    np.testing.assert_array_equal(squared_products(P, lower), columns.squared_products(lower))


@pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=lambda one: one.type)
def test_the_bound_of_computed_columns_is_that_of_stored_ones(
    likelihood: Likelihood, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linalg, "PIECE_BYTES", 2**12)
    rows, vectors, h = drawn(300, 12)
    vectors = replace(vectors, moved=vectors.X + 0.1)
    stored = bound(rows, vectors, Gaussian(), likelihood, h)
    monkeypatch.setattr(process, "MAX_STORED", 0)
    computed = bound(rows, vectors, Gaussian(), likelihood, h)
    assert computed.columns.array() is not computed.columns.array()
    assert stored.columns.array().base is not None
    assert computed.value == stored.value
    np.testing.assert_array_equal(computed.left, stored.left)
    for one, other in zip(
        bound_gradient(rows, vectors, Gaussian(), h, computed),
        bound_gradient(rows, vectors, Gaussian(), h, stored),
        strict=True,
    ):
        assert one is not None
        assert other is not None
        np.testing.assert_array_equal(one, other)


def test_computed_columns_need_a_part_of_the_memory_of_stored_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """32 MB of columns, and some 40 numbers a row."""
    monkeypatch.setattr(linalg, "PIECE_BYTES", 2**18)
    monkeypatch.setattr(process, "MAX_STORED", 0)
    rows, vectors, h = drawn(20_000, 200)
    tracemalloc.start()
    found = bound(rows, vectors, Gaussian(), Bernoulli(), h)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.optimum.posterior.covariance.shape == (201, 201)
    assert peak < 0.35 * 20_000 * 201 * 8
