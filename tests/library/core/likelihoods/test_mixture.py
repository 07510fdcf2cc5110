"""Mixtures of predictive distributions: quantiles against the distribution, moments against draws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from relevance_bayes.core.likelihoods import GaussianNoise, LogGaussian, NumberTarget, Poisson, StudentT
from relevance_bayes.core.likelihoods.base import LatentGaussian, NumberPrediction
from relevance_bayes.core.likelihoods.mixture import Groups, NumberMixture, mixture

MEANS = np.array([-1.0, 0.5, 2.0, 0.3, 0.3, -2.0, 3.0])
WEIGHTS = np.array([0.2, 0.5, 0.3, 1.0, 0.25, 0.7, 0.05])
STARTS = np.array([0, 3, 4])
GROUPS = Groups(STARTS, WEIGHTS)
LIKELIHOODS: tuple[NumberTarget, ...] = (GaussianNoise(), StudentT(4.0), LogGaussian(), Poisson())
LEVELS = (0.001, 0.025, 0.3, 0.5, 0.9, 0.975, 0.9999)


def components(likelihood: NumberTarget) -> NumberPrediction:
    latent = LatentGaussian(MEANS, np.full(7, 0.04), np.full(7, 0.01))
    return likelihood.predictive(latent, None if likelihood.targets == "count" else 0.3)


def mixed(likelihood: NumberTarget) -> NumberMixture:
    found = mixture(components(likelihood), GROUPS)
    assert isinstance(found, NumberMixture)
    return found


@pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=str)
@pytest.mark.parametrize("level", LEVELS)
def test_the_distribution_reaches_the_level_at_a_quantile_and_not_before(
    likelihood: NumberTarget, level: float
) -> None:
    found = mixed(likelihood)
    quantile = found.quantile(level)
    below, upto = found.distribution(quantile)
    if likelihood.targets == "count":
        assert_array_equal(quantile, np.round(quantile))
        assert (upto >= level).all()
        assert (below < level).all()
    else:
        assert_allclose(upto, level, rtol=1e-9)


@pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=str)
def test_moments_and_densities_are_those_of_draws_and_sums(likelihood: NumberTarget) -> None:
    found, each = mixed(likelihood), components(likelihood)
    levels = (np.arange(200) + 0.5) / 200
    draws = np.array([found.quantile(float(level)) for level in levels])
    sd = np.sqrt(found.variance)
    assert_allclose(draws.mean(axis=0), found.mean, atol=0.05 * sd.max())
    if not isinstance(likelihood, StudentT):  # whose tails beyond the last level have a part of the variance
        assert_allclose(draws.std(axis=0), sd, rtol=0.15)
    assert_allclose(found.noise + found.weights + found.residual, found.variance)
    t = np.array([1.0, 2.0, 3.0])
    densities = np.exp(each.log_density(t[GROUPS.numbers])) * WEIGHTS
    expected = [densities[:3].sum(), densities[3], densities[4:].sum()]
    assert_allclose(np.exp(found.log_density(t)), expected, rtol=1e-10)


@pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=str)
def test_the_mixture_of_one_is_that_one(likelihood: NumberTarget) -> None:
    found, each = mixed(likelihood), components(likelihood)
    assert (found.mean[1], found.variance[1]) == (each.mean[3], each.variance[3])
    for level in LEVELS:
        assert found.quantile(level)[1] == each.quantile(level)[3]


def test_a_density_of_zero_is_the_logarithm_minus_infinity() -> None:
    found = mixed(Poisson())
    assert_array_equal(found.log_density(np.array([0.5, -1.0, 1.5])), -np.inf)


def test_means_far_apart_have_a_finite_variance() -> None:
    latent = LatentGaussian(np.array([-1e200, 1e200]), np.ones(2), np.zeros(2))
    found = mixture(GaussianNoise().predictive(latent, 1.0), Groups(np.array([0]), np.array([0.5, 0.5])))
    assert isinstance(found, NumberMixture)
    assert np.isfinite(found.variance).all()
    assert np.isfinite(found.quantile(0.975)).all()


def sample(noise_sd: float, likelihood: NumberTarget) -> tuple[NumberMixture, NumberMixture]:
    """A group of 64 components at the quantiles of a uniform distribution, and the same as a sample."""
    means = (np.arange(64.0) + 0.5) / 64.0
    latent = LatentGaussian(means, np.zeros(64), np.zeros(64))
    found = likelihood.predictive(latent, None if likelihood.targets == "count" else noise_sd)
    groups = Groups(np.array([0]), np.full(64, 1.0 / 64.0))
    plain, smooth = mixture(found, groups), mixture(found, groups, is_sample=True)
    assert isinstance(plain, NumberMixture)
    assert isinstance(smooth, NumberMixture)
    return plain, smooth


def test_the_density_of_a_sample_has_no_gaps_between_narrow_components() -> None:
    plain, smooth = sample(1e-4, GaussianNoise())
    middle = np.array([0.5])  # between two means
    assert plain.log_density(middle)[0] < -100.0
    assert_allclose(np.exp(smooth.log_density(middle)), 1.0, rtol=0.05)


@pytest.mark.parametrize("likelihood", [GaussianNoise(), StudentT(4.0), LogGaussian(), Poisson()], ids=str)
def test_moments_of_a_sample_are_those_of_the_mixture(likelihood: NumberTarget) -> None:
    plain, smooth = sample(0.1, likelihood)
    assert_array_equal(smooth.mean, plain.mean)
    assert_array_equal(smooth.variance, plain.variance)


def test_equal_components_of_a_sample_stay_as_they_are() -> None:
    latent = LatentGaussian(np.repeat([0.0, 5.0], 20), np.zeros(40), np.zeros(40))
    groups = Groups(np.array([0]), np.full(40, 1.0 / 40.0))
    found = mixture(GaussianNoise().predictive(latent, 0.1), groups, is_sample=True)
    assert isinstance(found, NumberMixture)
    variances = found.components.variance
    assert_allclose(variances[:17], 0.01)
    assert_allclose(variances[-17:], 0.01)
