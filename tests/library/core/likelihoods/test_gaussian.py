import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm
from scipy.stats import t as student_t

from relevance_bayes.core.errors import ConstantTargetError
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.likelihoods.base import LatentGaussian
from relevance_bayes.core.likelihoods.gaussian import MIN_NOISE, RealPrediction, standard_ends, standard_quantile


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
    lower, upper = GaussianNoise().predictive(LatentGaussian(mean, weights, residual), 0.4).interval(0.9)
    expected = norm.interval(0.9, mean, np.sqrt(weights + residual + 0.16))
    np.testing.assert_allclose([lower, upper], expected, rtol=1e-12)


NUS = (1.0, 1.7, 2.0, 5.5, 60.0, 400.0)
"""Degrees of freedom: without mean, without variance, and with both."""


def integrated(nu: float) -> RealPrediction:
    """Student's t of location .5 and squared scale .25."""
    mean, noise, weights, residual = (np.array([one]) for one in (0.5, 0.16, 0.05, 0.04))
    return RealPrediction(mean, noise, weights, residual, nu)


@pytest.mark.parametrize("nu", NUS)
def test_the_density_of_an_integrated_noise_is_students_t_and_has_the_mass_1(nu: float) -> None:
    prediction = integrated(nu)
    for y in (-300.0, -1.0, 0.5, 0.7, 4.0):
        expected = float(student_t.logpdf(y, nu, 0.5, 0.5))
        assert float(prediction.log_density(np.array([y]))[0]) == pytest.approx(expected, rel=1e-10)
    half, _ = quad(lambda y: float(np.exp(prediction.log_density(np.array([y]))[0])), 0.5, np.inf)
    assert half == pytest.approx(0.5, abs=1e-7)


@pytest.mark.parametrize("nu", NUS)
def test_its_quantiles_are_what_its_distribution_and_density_invert(nu: float) -> None:
    prediction = integrated(nu)
    for share in (1e-6, 0.025, 0.3, 0.5, 0.9, 0.9995):
        quantile = prediction.quantile(share)
        assert float(prediction.distribution(quantile)[1][0]) == pytest.approx(share, rel=1e-9)
        assert float(quantile[0]) == pytest.approx(float(student_t.ppf(share, nu, 0.5, 0.5)), rel=1e-7, abs=1e-12)
    low, high = prediction.interval(0.8)
    mass, _ = quad(lambda y: float(np.exp(prediction.log_density(np.array([y]))[0])), low[0], high[0])
    assert mass == pytest.approx(0.8, abs=1e-9)


@pytest.mark.parametrize("share", [1e-12, 1e-4, 0.025, 0.4, 0.75, 0.975])
def test_with_one_and_two_degrees_of_freedom_quantiles_have_a_closed_form(share: float) -> None:
    assert standard_quantile(share, 1.0) == pytest.approx(-1.0 / np.tan(np.pi * share), rel=1e-9)
    assert standard_quantile(share, 2.0) == pytest.approx((2.0 * share - 1.0) / (2.0 * share * (1.0 - share)) ** 0.5)


def test_intervals_are_symmetric_and_normal_without_degrees_of_freedom() -> None:
    for nu in NUS:
        below, above = standard_ends(0.95, nu)
        assert above == pytest.approx(-below, rel=1e-12)
    assert standard_ends(0.95) == pytest.approx((norm.ppf(0.025), norm.ppf(0.975)), rel=1e-12)
    assert standard_ends(0.95, 400.0)[1] == pytest.approx(standard_ends(0.95)[1], rel=0.004)


def test_a_target_far_from_an_integrated_prediction_has_a_finite_density() -> None:
    found = float(integrated(3.0).log_density(np.array([1e200]))[0])
    assert found == pytest.approx(float(student_t.logpdf(1e100, 3.0, 0.5, 0.5)) - 4.0 * 100.0 * np.log(10.0), rel=1e-9)
