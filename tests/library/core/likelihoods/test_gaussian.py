import numpy as np
import pytest
from scipy.stats import norm

from relevance_bayes.core.errors import ConstantTargetError
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.likelihoods.gaussian import MIN_NOISE
from relevance_bayes.core.likelihoods.predictive import Latent


def test_its_log_density_is_the_normal_distributions() -> None:
    t, f = np.array([0.0, 1.0, -2.0]), np.array([0.5, 1.0, 3.0])
    np.testing.assert_allclose(GaussianNoise().log_density(t, f, 4.0), np.asarray(norm.logpdf(t, f, 0.5)), rtol=1e-12)


def test_a_known_noise_is_where_beta_begins_and_ends() -> None:
    assert GaussianNoise(0.5).start(np.array([1.0, 2.0])) == (4.0, 4.0)
    assert GaussianNoise(0.5).noise(4.0) == 0.5


def test_a_learned_noise_begins_with_the_size_of_the_targets_and_has_a_floor() -> None:
    start, largest = GaussianNoise().start(np.array([3.0, -3.0]))
    assert start == pytest.approx(1.0 / 9.0)
    assert GaussianNoise().noise(largest) == pytest.approx(MIN_NOISE * 3.0)


def test_targets_that_are_all_one_number_are_refused_where_noise_is_learned() -> None:
    t = np.full(5, 2.5)
    with pytest.raises(ConstantTargetError, match=r"2\.5"):
        GaussianNoise().check(t)
    GaussianNoise(0.1).check(t)


def test_the_interval_of_a_prediction_is_that_of_the_normal_distribution() -> None:
    mean, weights, residual = np.array([0.5, -2.0]), np.array([0.05, 3.0]), np.array([0.04, 1.0])
    lower, upper = GaussianNoise().predictive(Latent(mean, weights, residual), 0.4).interval(0.9)
    expected = norm.interval(0.9, mean, np.sqrt(weights + residual + 0.16))
    np.testing.assert_allclose([lower, upper], expected, rtol=1e-12)
