"""Targets from 0 on with many zeros: zero or not, and log-normal where not."""

import numpy as np
import pytest
import scipy
from scipy.integrate import quad
from scipy.special import expit

from relevance_bayes.core.errors import ConstantTargetError, DataError
from relevance_bayes.core.likelihoods import Bernoulli, Hurdle, LogGaussian
from relevance_bayes.core.likelihoods.base import LatentGaussian
from relevance_bayes.core.likelihoods.hurdle import HurdlePrediction
from relevance_bayes.core.likelihoods.mixture import Groups, mixture
from relevance_bayes.core.likelihoods.transformed_gaussian import PositivePrediction
from relevance_bayes.core.types import Array

PLACES = pytest.mark.parametrize(("zero", "mean", "noise_sd"), [(-1.0, 0.5, 0.5), (2.5, -2.0, 0.2), (0.0, 1.0, 0.9)])
TAILS = pytest.mark.parametrize("tails", [None, 5.0])


def latent_of(mean: Array, variance: float) -> LatentGaussian:
    whole = np.full(len(mean), variance)
    return LatentGaussian(mean, 0.25 * whole, 0.75 * whole)


def predicted(
    zero: float = -1.0, mean: float = 0.5, noise_sd: float = 0.5, rows: int = 1, tails: float | None = None
) -> HurdlePrediction:
    """Latents of zeros and of positive targets of the variances 0.8 and 0.16."""
    of_zeros = latent_of(np.full(rows, zero), 0.8)
    positive = LogGaussian().predictive(latent_of(np.full(rows, mean), 0.16), noise_sd)
    if tails is not None:
        positive = PositivePrediction.of(positive.log.integrated(1.2, tails))
    return HurdlePrediction.of(Bernoulli().predictive(of_zeros, None), of_zeros, positive)


def sample(zero: float, mean: float, noise_sd: float, size: int) -> Array:
    rng = np.random.default_rng(0)
    is_zero = rng.random(size) < expit(zero + np.sqrt(0.8) * rng.standard_normal(size))
    logs = mean + 0.4 * rng.standard_normal(size) + noise_sd * rng.standard_normal(size)
    return np.where(is_zero, 0.0, np.exp(logs))


@PLACES
@TAILS
def test_the_probability_of_zero_and_the_density_above_it_add_to_one(
    zero: float, mean: float, noise_sd: float, tails: float | None
) -> None:
    prediction = predicted(zero, mean, noise_sd, tails=tails)
    at_zero = float(np.exp(prediction.log_density(np.zeros(1))[0]))

    def of_logarithm(log: float) -> float:
        return float(np.exp(prediction.log_density(np.exp([log]))[0] + log))

    above, _ = quad(of_logarithm, mean - 60.0, mean + 60.0, points=[mean], limit=400)
    assert at_zero + above == pytest.approx(1.0, abs=1e-6)
    assert prediction.log_density(np.full(1, -0.1))[0] == -np.inf


@PLACES
def test_moments_and_quantiles_are_those_of_a_sample(zero: float, mean: float, noise_sd: float) -> None:
    drawn, prediction = sample(zero, mean, noise_sd, 1_000_000), predicted(zero, mean, noise_sd)
    assert prediction.mean[0] == pytest.approx(drawn.mean(), rel=0.01)
    assert prediction.variance[0] == pytest.approx(drawn.var(), rel=0.05)
    assert prediction.zero[0] == pytest.approx(np.mean(drawn == 0.0), abs=0.003)
    for probability in (0.3, 0.6, 0.95):
        found = prediction.quantile(probability)[0]
        assert found == pytest.approx(np.quantile(drawn, probability), rel=0.02, abs=1e-12)


def test_the_parts_of_its_variance_are_those_of_the_law_of_total_variance() -> None:
    rng, prediction = np.random.default_rng(1), predicted()
    g, f = -1.0 + np.sqrt(0.8) * rng.standard_normal(500_000), 0.5 + 0.4 * rng.standard_normal(500_000)
    above, mean = expit(-g), np.exp(f + 0.125)
    given_variance = above * mean**2 * np.exp(0.25) - np.square(above * mean)
    assert prediction.noise[0] == pytest.approx(given_variance.mean(), rel=0.01)
    assert (prediction.weights + prediction.residual)[0] == pytest.approx((above * mean).var(), rel=0.02)
    np.testing.assert_allclose(prediction.residual, 3.0 * prediction.weights)


@PLACES
@TAILS
def test_quantiles_invert_the_distribution_above_the_step_at_zero(
    zero: float, mean: float, noise_sd: float, tails: float | None
) -> None:
    prediction = predicted(zero, mean, noise_sd, tails=tails)
    for probability in (1e-3, 0.2, 0.5, 0.9, 0.999):
        found = prediction.quantile(probability)
        below, upto = (float(one[0]) for one in prediction.distribution(found))
        if found[0] == 0.0:
            assert below == 0.0
            assert upto == pytest.approx(prediction.zero[0])
            assert upto >= probability
        else:
            assert (below, upto) == pytest.approx((probability, probability), abs=1e-9)
            assert probability > prediction.zero[0]


def test_quantiles_are_finite_however_probable_a_zero_is() -> None:
    for zero in (-800.0, 800.0):
        prediction = predicted(zero)
        (lower, upper), median = prediction.interval(0.99), prediction.quantile(0.5)
        assert 0.0 <= lower <= median <= upper < np.inf
        assert np.isfinite(prediction.log_density(np.array([0.0]))).all()


def test_the_probability_of_an_interval_is_the_difference_of_the_distribution_also_where_it_is_narrow() -> None:
    prediction = predicted(rows=3)
    t = np.array([0.0, 0.3, 2.0])
    for half_width in (0.1, 1e-3):
        expected = prediction.distribution(t + half_width)[1] - prediction.distribution(t - half_width)[0]
        np.testing.assert_allclose(np.exp(prediction.log_probability(t, half_width)), expected, rtol=1e-9)
    narrow = prediction.log_probability(t, 1e-14)
    np.testing.assert_allclose(narrow[1:], prediction.log_density(t)[1:] + np.log(2e-14), rtol=1e-9)
    assert narrow[0] == pytest.approx(np.log(prediction.zero[0]))


def test_quantiles_of_a_mixture_are_zero_up_to_the_mean_probability_of_a_zero() -> None:
    of_zeros = latent_of(np.array([-2.0, 2.0]), 0.8)
    positive = LogGaussian().predictive(latent_of(np.array([0.0, 1.0]), 0.16), 0.5)
    both = HurdlePrediction.of(Bernoulli().predictive(of_zeros, None), of_zeros, positive)
    mixed = mixture(both, Groups(np.array([0]), np.array([0.5, 0.5])))
    zero = float(both.zero.mean())
    assert mixed.quantile(zero - 0.01)[0] == 0.0  # type: ignore[union-attr]
    for probability in (zero + 0.05, 0.95):
        found = mixed.quantile(probability)  # type: ignore[union-attr]
        _, upto = mixed.distribution(found)  # type: ignore[union-attr]
        assert upto[0] == pytest.approx(probability, abs=1e-9)
        expected = scipy.optimize.brentq(
            lambda t, p=probability: both.distribution(np.full(2, t))[1].mean() - p, 1e-9, 100.0
        )
        assert found[0] == pytest.approx(expected)


@pytest.mark.parametrize(("targets", "error"), [((-0.1, 0.0, 1.0), DataError), ((0.0, 2.0, 2.0), ConstantTargetError)])
def test_targets_below_zero_and_those_of_one_size_above_it_are_refused(
    targets: tuple[float, ...], error: type[Exception]
) -> None:
    with pytest.raises(error, match="expected targets"):
        Hurdle().check(np.array(targets))
