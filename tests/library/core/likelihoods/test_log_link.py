"""The means of targets whose latent is a logarithm, beside their distributions."""

import numpy as np
import pytest
from scipy.stats import lognorm, norm

from relevance_bayes.core.likelihoods import LogGaussian, Poisson
from relevance_bayes.core.likelihoods.base import LatentGaussian, NumberPrediction
from relevance_bayes.core.likelihoods.counts import NegativeBinomial
from relevance_bayes.core.types import Array

LikelihoodOfLogs = LogGaussian | Poisson | NegativeBinomial

LOG_LINKS: tuple[LikelihoodOfLogs, ...] = (LogGaussian(), Poisson(), NegativeBinomial(), NegativeBinomial(0.3))
NOISE_SD = 0.4

each_log_link = pytest.mark.parametrize("likelihood", LOG_LINKS, ids=str)


def predicted(likelihood: LikelihoodOfLogs, mean: Array, sd: Array) -> NumberPrediction:
    latent = LatentGaussian(mean, 0.4 * sd**2, 0.6 * sd**2)
    return likelihood.predictive(latent, NOISE_SD if likelihood.has_target_units else None)


def drawn(likelihood: LikelihoodOfLogs, mean: float, sd: float, size: int) -> Array:
    """New observations."""
    rng = np.random.default_rng(11)
    f = mean + sd * rng.standard_normal(size)
    match likelihood:
        case LogGaussian():
            return np.asarray(np.exp(f + NOISE_SD * rng.standard_normal(size)))
        case Poisson():
            return rng.poisson(np.exp(f)).astype(np.float64)
        case NegativeBinomial():
            k = likelihood.shape_or_first
            return rng.poisson(np.exp(f) * rng.gamma(k, 1.0 / k, size)).astype(np.float64)


@each_log_link
@pytest.mark.parametrize(("mean", "sd"), [(-4.0, 0.3), (1.0, 0.8), (4.0, 1.2)])
def test_the_mean_is_that_of_drawn_observations(likelihood: LikelihoodOfLogs, mean: float, sd: float) -> None:
    each = drawn(likelihood, mean, sd, 400_000)
    found = predicted(likelihood, np.array([mean]), np.array([sd])).mean.item()
    assert abs(found - each.mean()) < 5.0 * each.std() / len(each) ** 0.5


@pytest.mark.thorough
@each_log_link
def test_the_median_is_within_the_interval_however_uncertain_the_latent(likelihood: LikelihoodOfLogs) -> None:
    rng = np.random.default_rng(5)
    mean, sd = rng.uniform(-20.0, 40.0, 400), rng.uniform(0.0, 15.0, 400)
    found = predicted(likelihood, mean, sd)
    for probability in (0.5, 0.95):
        lower, upper = found.interval(probability)
        median = found.quantile(0.5)
        assert (lower <= median).all()
        assert (median <= upper).all()


@pytest.mark.parametrize("sd", [4.0, 6.0, 12.0])
def test_the_mean_under_a_very_uncertain_latent_is_the_upper_limit_of_the_rate(sd: float) -> None:
    limit = lognorm(sd, scale=np.exp(1.5)).ppf(0.975)
    for likelihood in (Poisson(), NegativeBinomial()):
        found = predicted(likelihood, np.array([1.5]), np.array([sd]))
        np.testing.assert_allclose(found.mean, limit)
    noisy = predicted(LogGaussian(), np.array([1.5]), np.array([sd]))
    np.testing.assert_allclose(noisy.mean, limit * np.exp(0.5 * NOISE_SD**2))


@pytest.mark.parametrize(
    ("likelihood", "skewness"),
    [(LogGaussian(), np.exp(0.5 * NOISE_SD**2)), (Poisson(), 1.0 + 1e-12), (NegativeBinomial(), 2.0)],
    ids=["log_gaussian", "poisson", "negative_binomial"],
)
def test_a_mean_exceeds_the_upper_limit_by_the_skewness_around_the_rate_alone(
    likelihood: LikelihoodOfLogs, skewness: float
) -> None:
    rng = np.random.default_rng(6)
    mean, sd = rng.uniform(-3.0, 60.0, 600), rng.uniform(0.0, 15.0, 600)
    found = predicted(likelihood, mean, sd)
    assert (found.mean <= skewness * found.quantile(0.975) + 1.0).all()


def test_the_mean_of_counts_near_zero_lies_above_an_interval_of_zeros() -> None:
    found = predicted(Poisson(), np.array([-5.0]), np.array([0.2]))
    np.testing.assert_array_equal(found.interval(0.95), [[0.0], [0.0]])
    np.testing.assert_allclose(found.mean, np.exp(-5.0 + 0.02))


def test_the_bound_begins_where_the_exact_mean_meets_it() -> None:
    meets = 2.0 * norm.ppf(0.975)
    sd = meets * np.array([0.5, 1.0 - 1e-9, 1.0 + 1e-9, 1.5])
    found = predicted(Poisson(), np.zeros(4), sd).mean
    exact = np.exp(0.5 * sd**2)
    np.testing.assert_allclose(found[:3], exact[:3], rtol=1e-7)
    assert found[3] < 0.2 * exact[3]


@each_log_link
def test_the_bound_leaves_the_variance_and_the_quantiles_as_they_are(likelihood: LikelihoodOfLogs) -> None:
    found = predicted(likelihood, np.array([2.0]), np.array([5.0]))
    each = drawn(likelihood, 2.0, 5.0, 200_000)
    for probability in (0.025, 0.5, 0.9, 0.975):
        share = found.distribution(found.quantile(probability))[1].item()
        assert share >= probability - 1e-9
        assert abs(np.mean(each <= found.quantile(probability)) - share) < 5.0 * 0.5 / len(each) ** 0.5
