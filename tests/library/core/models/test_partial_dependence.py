"""Averages over rows: their closed form against the joint covariance and against functions drawn."""

import numpy as np
import pytest

from relevance_bayes.core.basis import evaluate
from relevance_bayes.core.likelihoods import Bernoulli
from relevance_bayes.core.models.effects import averages, joint
from relevance_bayes.core.models.fitting import fit
from relevance_bayes.core.models.pool import Pool, ReadyPool, ready_of
from relevance_bayes.core.models.prediction import Ready, RealPrediction
from relevance_bayes.core.types import Array
from tests.library.core.drawn import sinc, spec_for
from tests.library.core.models.test_joint import SPECS, fitted

GROUPS, ROWS = 7, 12
X = np.concatenate([np.linspace(-9.0, 9.0, ROWS) * 0.5 + group for group in range(GROUPS)])[:, None]


def from_joint(ready: Ready | ReadyPool, noise: Array) -> tuple[Array, Array]:
    """Averages of the joint mean and covariance, less the noise (N,) on its diagonal."""
    mean, covariance = joint(ready, X)
    covariance = covariance - np.diag(noise)
    variance = [covariance[np.ix_(rows, rows)].mean() for rows in np.split(np.arange(len(X)), GROUPS)]
    return mean.reshape(GROUPS, ROWS).mean(axis=1), np.array(variance)


@pytest.mark.parametrize("augmented", [True, False], ids=["augmented", "plain"])
@pytest.mark.parametrize("name", SPECS)
def test_they_are_averages_of_the_joint_covariance_without_noise(name: str, augmented: bool) -> None:
    ready = Ready.of(fitted(name, augmented=augmented))
    prediction, _ = ready.predict(X)
    assert isinstance(prediction, RealPrediction)
    found_mean, found_variance = averages(ready, X, GROUPS)
    mean, variance = from_joint(ready, prediction.noise)
    np.testing.assert_allclose(found_mean, mean, rtol=1e-10)
    np.testing.assert_allclose(found_variance, variance, rtol=1e-6, atol=1e-10)
    assert np.all(found_variance > 0.0)


def test_of_a_pool_they_are_those_of_its_joint_covariance() -> None:
    pool = ready_of(Pool((fitted("process"), fitted("independent")), np.array([0.3, 0.7])))
    assert isinstance(pool, ReadyPool)
    prediction, _ = pool.predict(X)
    found_mean, found_variance = averages(pool, X, GROUPS)
    mean, variance = from_joint(pool, prediction.noise)
    np.testing.assert_allclose(found_mean, mean, rtol=1e-10)
    np.testing.assert_allclose(found_variance, variance, rtol=1e-6)


def test_they_have_the_moments_of_averages_of_drawn_functions() -> None:
    model = fitted("independent", augmented=False)
    found_mean, found_variance = averages(Ready.of(model), X, GROUPS)
    weights = np.random.default_rng(1).multivariate_normal(model.mean, model.covariance, 20_000)
    drawn = (evaluate(model.functions, X) @ weights.T).reshape(GROUPS, ROWS, -1).mean(axis=1)
    np.testing.assert_allclose(found_mean, drawn.mean(axis=1), atol=0.01 * np.abs(drawn).max())
    np.testing.assert_allclose(found_variance, drawn.var(axis=1), rtol=0.05)


def test_a_group_of_one_row_has_the_variance_of_that_row() -> None:
    ready = Ready.of(fitted("process"))
    latent = ready.latent(X)
    found_mean, found_variance = averages(ready, X, len(X))
    np.testing.assert_allclose(found_mean, latent.mean, rtol=1e-12)
    np.testing.assert_allclose(found_variance, latent.variance, rtol=1e-9)


def test_of_two_classes_they_are_of_the_latent() -> None:
    inputs, _ = sinc(60, 0)
    model = fit(inputs, (inputs[:, 0] > 0.0).astype(np.float64), spec_for(Bernoulli()))
    ready = Ready.of(model)
    found_mean, found_variance = averages(ready, X, GROUPS)
    np.testing.assert_allclose(found_mean, ready.latent(X).mean.reshape(GROUPS, ROWS).mean(axis=1), rtol=1e-12)
    assert np.all(found_variance > 0.0)
