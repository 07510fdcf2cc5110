"""Properties of every likelihood, for all members at once."""

from typing import get_args

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from relevance_bayes.core.likelihoods import Bernoulli, Coupled, Likelihood, OneAgainstRest, StudentT
from relevance_bayes.core.likelihoods.counts import NegativeBinomial
from relevance_bayes.core.types import Array
from tests.library.core.drawn import LIKELIHOODS, OF_NOISE, by_differences, rows_for

BETA = 2.3
NUDGE = 1e-4
EACH = LIKELIHOODS | OF_NOISE


def working_targets(likelihood: Likelihood, rows: int) -> Array:
    return likelihood.working(rows_for(likelihood, rows, 0)[1])[0]


def test_every_member_of_the_union_is_tested() -> None:
    assert {type(likelihood) for likelihood in EACH.values()} | {Coupled, OneAgainstRest} == set(get_args(Likelihood))


@pytest.mark.parametrize("name", EACH)
def test_sites_are_the_derivatives_of_the_log_density(name: str) -> None:
    likelihood = EACH[name]
    t = working_targets(likelihood, 20)
    f = np.random.default_rng(1).normal(0.0, 2.0, len(t))
    below, here, above = (likelihood.log_density(t, f + step, BETA) for step in (-NUDGE, 0.0, NUDGE))
    precision, gradient = likelihood.sites(t, f, BETA)
    np.testing.assert_allclose(gradient, (above - below) / (2.0 * NUDGE), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(precision, -(above - 2.0 * here + below) / NUDGE**2, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", EACH)
def test_the_slope_of_the_precision_is_its_derivative(name: str) -> None:
    likelihood = EACH[name]
    t = working_targets(likelihood, 20)
    f = np.random.default_rng(2).normal(0.0, 2.0, len(t))
    (below, _), (above, _) = (likelihood.sites(t, f + step, 1.0) for step in (-NUDGE, NUDGE))
    np.testing.assert_allclose(likelihood.precision_slope(t, f), (above - below) / (2.0 * NUDGE), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", EACH)
def test_a_row_with_a_precision_of_its_own_is_as_it_would_be_alone(name: str) -> None:
    likelihood = EACH[name]
    t = working_targets(likelihood, 8)
    f, v = latents()
    beta = np.geomspace(0.1, 30.0, 8)
    together, sites = likelihood.expected(t, f, v, beta), likelihood.sites(t, f, beta)
    alone = [likelihood.expected(t[[n]], f[[n]], v[[n]], float(beta[n])) for n in range(8)]
    np.testing.assert_allclose(together.value, [float(one.value[0]) for one in alone], rtol=1e-12)
    np.testing.assert_allclose(together.gradient, [float(one.gradient[0]) for one in alone], rtol=1e-12)
    np.testing.assert_allclose(together.precision, [float(one.precision[0]) for one in alone], rtol=1e-12)
    assert together.noise_slope == pytest.approx(sum(one.noise_slope for one in alone), rel=1e-12, abs=1e-12)
    assert together.noise_curvature == pytest.approx(sum(one.noise_curvature for one in alone), rel=1e-12)
    for place, found in enumerate(sites):
        single = [float(likelihood.sites(t[[n]], f[[n]], float(beta[n]))[place][0]) for n in range(8)]
        np.testing.assert_allclose(found, single, rtol=1e-12)
    densities = [float(likelihood.log_density(t[[n]], f[[n]], float(beta[n]))[0]) for n in range(8)]
    np.testing.assert_allclose(likelihood.log_density(t, f, beta), densities, rtol=1e-12)


@pytest.mark.parametrize("name", EACH)
def test_a_constant_precision_is_one_number_for_all_rows_and_all_f(name: str) -> None:
    likelihood = EACH[name]
    t = working_targets(likelihood, 20)
    f = np.linspace(-3.0, 3.0, len(t))
    precision, _ = likelihood.sites(t, f, BETA)
    assert likelihood.has_constant_precision == bool(np.all(precision == precision[0]))


def latents(seed: int = 3) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return rng.normal(0.0, 1.5, 8), rng.uniform(0.01, 2.0, 8)


@pytest.mark.parametrize("name", EACH)
def test_an_expected_log_density_is_the_integral_over_the_latent(name: str) -> None:
    likelihood = EACH[name]
    t = working_targets(likelihood, 8)
    f, v = latents()

    def by_quadrature(n: int) -> float:
        def integrand(z: float) -> float:
            latent = np.array([f[n] + v[n] ** 0.5 * z])
            return float(likelihood.log_density(t[[n]], latent, BETA)[0] * norm.pdf(z))

        return float(quad(integrand, -12.0, 12.0, epsabs=1e-13, epsrel=1e-12, limit=200)[0])

    expected = np.array([by_quadrature(n) for n in range(len(t))])
    value = likelihood.expected(t, f, v, BETA).value
    if not isinstance(likelihood, StudentT):
        np.testing.assert_allclose(value, expected, rtol=1e-7, atol=1e-7)
    else:  # that of the scale mixture, which is less
        assert (value < expected).all()
        np.testing.assert_allclose(value, expected, atol=1.0)


@pytest.mark.parametrize("name", EACH)
def test_expected_sites_are_the_slopes_of_the_expected_log_density(name: str) -> None:
    likelihood = EACH[name]
    t = working_targets(likelihood, 8)
    f, v = latents()
    found = likelihood.expected(t, f, v, BETA)

    def value(f: Array, v: Array) -> float:
        return float(likelihood.expected(t, f, v, BETA).value.sum())

    np.testing.assert_allclose(found.gradient, by_differences(lambda f: value(f, v), f), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(found.precision, -2.0 * by_differences(lambda v: value(f, v), v), rtol=1e-5)


@pytest.mark.parametrize("name", EACH)
def test_the_slope_in_the_noise_is_that_of_the_sum_over_rows(name: str) -> None:
    likelihood = EACH[name]
    t = working_targets(likelihood, 8)
    f, v = latents()
    (slope,) = by_differences(
        lambda log_beta: float(likelihood.expected(t, f, v, float(np.exp(log_beta[0]))).value.sum()),
        np.array([np.log(BETA)]),
    )
    assert likelihood.expected(t, f, v, BETA).noise_slope == pytest.approx(float(slope), rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("name", EACH)
def test_a_latent_without_variance_has_the_plain_sites(name: str) -> None:
    likelihood = EACH[name]
    t = working_targets(likelihood, 8)
    f, _ = latents()
    found = likelihood.expected(t, f, np.zeros(8), BETA)
    precision, gradient = likelihood.sites(t, f, BETA)
    # The logistic function is a mixture to 1e-8, for each event that a row counts.
    slack = 3e-8 * (1.0 + float(t.max())) if isinstance(likelihood, Bernoulli | NegativeBinomial) else 0.0
    np.testing.assert_allclose(found.value, likelihood.log_density(t, f, BETA), rtol=1e-12, atol=slack)
    np.testing.assert_allclose(found.gradient, gradient, rtol=1e-12, atol=slack)
    if not isinstance(likelihood, StudentT):
        np.testing.assert_allclose(found.precision, precision, rtol=1e-12, atol=slack)
    else:
        assert (found.precision > 0.0).all()


@pytest.mark.parametrize("name", EACH)
def test_the_curvature_in_the_noise_is_that_of_the_sum_over_rows(name: str) -> None:
    likelihood = EACH[name]
    t = working_targets(likelihood, 8)
    f, v = latents()
    (curvature,) = by_differences(
        lambda log_beta: likelihood.expected(t, f, v, float(np.exp(log_beta[0]))).noise_slope, np.array([np.log(BETA)])
    )
    assert likelihood.expected(t, f, v, BETA).noise_curvature == pytest.approx(float(curvature), rel=1e-7, abs=1e-12)
