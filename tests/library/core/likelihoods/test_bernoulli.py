"""from itertools import pairwise"""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from relevance_bayes.core.errors import DataError, OneClassError
from relevance_bayes.core.likelihoods import Bernoulli, BernoulliPerClass, Categorical, ClassLikelihood, OneAgainstRest
from relevance_bayes.core.likelihoods.base import LatentGaussian
from relevance_bayes.core.likelihoods.bernoulli import (
    LOG_TEMPERATURE_SD,
    MAX_TEMPERATURE,
    MIN_TEMPERATURE,
    expected_softplus,
    fitted_temperature,
    integrated_sigmoid,
    tempered,
)
from relevance_bayes.core.numpy_namespace import NUMPY
from relevance_bayes.core.types import Array
from tests.library.core.drawn import sigmoid_by_quadrature


def drawn(rows: int, classes: int, spread: float, seed: int = 0) -> tuple[Array, Array]:
    """Probabilities (rows, classes), and a class drawn from each row's."""
    rng = np.random.default_rng(seed)
    p = np.exp(spread * rng.normal(size=(rows, classes)))
    p /= p.sum(axis=1, keepdims=True)
    return p, (p.cumsum(axis=1) < rng.uniform(size=(rows, 1))).sum(axis=1).astype(np.float64)


def objective(probabilities: Array, t: Array, temperature: float) -> float:
    """Written down once more, power by power."""
    powers = probabilities ** (1.0 / temperature)
    chosen = powers[np.arange(len(t)), t.astype(int)] / powers.sum(axis=1)
    return float(np.log(chosen).sum() - 0.5 * (np.log(temperature) / LOG_TEMPERATURE_SD) ** 2)


def test_probabilities_at_a_temperature_are_powers_that_add_to_one() -> None:
    p, _ = drawn(20, 4, 1.0)
    for temperature in (0.3, 1.0, 2.5):
        found = tempered(NUMPY, p, temperature)
        np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-14)
        np.testing.assert_allclose(found[:, 1] / found[:, 0], (p[:, 1] / p[:, 0]) ** (1.0 / temperature), rtol=1e-12)
    assert tempered(NUMPY, p, "learned") is p


def test_a_probability_of_zero_stays_finite_at_any_temperature() -> None:
    p = np.array([[1.0, 0.0], [0.0, 1.0]])
    for temperature in (MIN_TEMPERATURE, 3.0, MAX_TEMPERATURE):
        assert np.isfinite(tempered(NUMPY, p, temperature)).all()
    assert np.isfinite(fitted_temperature(p, np.array([1.0, 1.0])))


@pytest.mark.parametrize("rows", [1, 12, 400])
@pytest.mark.parametrize("truth", [0.5, 1.0, 1.8])
def test_the_temperature_is_the_best_of_a_fine_grid(rows: int, truth: float) -> None:
    p, t = drawn(rows, 3, 1.5, rows)
    shown = tempered(NUMPY, p, 1.0 / truth)
    grid = np.exp(np.linspace(np.log(MIN_TEMPERATURE), np.log(MAX_TEMPERATURE), 20_001))
    values = [objective(shown, t, one) for one in grid]
    found = fitted_temperature(shown, t)
    assert found == pytest.approx(grid[int(np.argmax(values))], rel=1e-3)
    assert objective(shown, t, found) >= max(values) - 1e-9


def test_the_temperature_that_made_probabilities_too_certain_is_found_from_many_rows() -> None:
    p, t = drawn(5_000, 4, 1.5)
    for truth in (0.6, 1.0, 2.0):
        assert fitted_temperature(tempered(NUMPY, p, 1.0 / truth), t) == pytest.approx(truth, rel=0.06)


def test_without_rows_and_with_uninformative_rows_the_temperature_is_near_one() -> None:
    assert fitted_temperature(np.empty((0, 3)), np.empty(0)) == pytest.approx(1.0, rel=1e-6)
    assert fitted_temperature(np.array([[0.5, 0.5]]), np.array([1.0])) == pytest.approx(1.0, rel=1e-6)
    # One row that was sure and wrong is not enough to make everything uncertain.
    assert 1.0 < fitted_temperature(np.array([[0.999, 0.001]]), np.array([1.0])) < 1.7


LATENT = LatentGaussian(np.linspace(-3.0, 3.0, 12), np.full(12, 0.5), np.full(12, 0.2))
LATENTS = LatentGaussian(np.linspace(-3.0, 3.0, 36).reshape(12, 3), np.full(12, 0.5), np.full(12, 0.2))
OWN = LatentGaussian(LATENTS.mean, np.full((12, 3), 0.5), np.linspace(0.0, 2.0, 36).reshape(12, 3))
KINDS: list[tuple[ClassLikelihood, LatentGaussian]] = [
    (Bernoulli(), LATENT),
    (Categorical(3), LATENTS),
    (OneAgainstRest(3), LATENTS),
    (BernoulliPerClass(3), OWN),
]


@pytest.mark.parametrize(("likelihood", "latent"), KINDS, ids=[one.type for one, _ in KINDS])
def test_every_likelihood_of_classes_predicts_at_its_temperature(
    likelihood: ClassLikelihood, latent: LatentGaussian
) -> None:
    plain = likelihood.predictive(latent, 0.3)
    for temperature in (0.4, 2.0):
        found = replace(likelihood, temperature=temperature).predictive(latent, 0.3)
        np.testing.assert_allclose(found.probabilities, tempered(NUMPY, plain.probabilities, temperature), rtol=1e-9)
        np.testing.assert_array_equal(found.latent_mean, plain.latent_mean)
    at_one = replace(likelihood, temperature=1.0).predictive(latent, 0.3)
    np.testing.assert_array_equal(at_one.probabilities, plain.probabilities)


def test_two_classes_keep_the_digits_of_what_is_left_of_one() -> None:
    certain = LatentGaussian(np.array([-45.0, 45.0]), np.zeros(2), np.zeros(2))
    found = Bernoulli(3.0).predictive(certain, None).probabilities
    np.testing.assert_allclose(found[1, 0], 1.0 / (1.0 + np.exp(15.0)), rtol=1e-9)
    np.testing.assert_allclose(found[0], found[1, ::-1], rtol=1e-12)


def test_the_two_classes_share_all_probability() -> None:
    f = np.array([-700.0, -3.0, 0.0, 2.0, 700.0])
    one, other = (np.exp(Bernoulli().log_density(np.full(5, t), f, 1.0)) for t in (1.0, 0.0))
    np.testing.assert_allclose(one + other, 1.0, rtol=1e-12)
    np.testing.assert_allclose(one[1:4], 1.0 / (1.0 + np.exp(-f[1:4])), rtol=1e-12)


def test_it_has_no_noise() -> None:
    start, largest = Bernoulli().start(np.array([0.0, 1.0]))
    assert start == largest
    Bernoulli().noise(start)


def test_sites_stay_finite_far_out() -> None:
    precision, gradient = Bernoulli().sites(np.array([0.0, 1.0]), np.array([-1e4, 1e4]), 1.0)
    np.testing.assert_array_equal(precision, 0.0)
    np.testing.assert_array_equal(gradient, 0.0)


def test_one_class_alone_is_refused() -> None:
    with pytest.raises(OneClassError, match="class 1"):
        Bernoulli().check(np.ones(4))


def test_targets_that_are_no_classes_are_refused() -> None:
    with pytest.raises(DataError, match=r"0\.0 and 1\.0"):
        Bernoulli().check(np.array([0.0, 1.0, 2.0]))


@pytest.mark.parametrize("sd", [1e-3, 0.1, 0.7, 2.9, 3.1, 5.0, 20.0, 1e3])
def test_the_sigmoid_is_integrated_to_ten_digits(sd: float) -> None:
    means = np.array([-800.0, -30.0, -6.0, -2.5, -0.3, 0.0, 1.0, 4.0, 12.0, 100.0])
    expected = [sigmoid_by_quadrature(float(mean), sd) for mean in means]
    np.testing.assert_allclose(integrated_sigmoid(means, np.full(10, sd**2)), expected, rtol=0.0, atol=1e-10)


@given(st.floats(-50.0, 50.0), st.floats(0.0, 1e3))
def test_the_two_classes_are_treated_alike(mean: float, sd: float) -> None:
    one, other = integrated_sigmoid(np.array([mean, -mean]), np.full(2, sd**2))
    assert 0.0 <= one <= 1.0
    assert one + other == pytest.approx(1.0, abs=1e-12)


def test_without_variance_it_is_the_sigmoid() -> None:
    mean = np.linspace(-5.0, 5.0, 11)
    np.testing.assert_allclose(integrated_sigmoid(mean, np.zeros(11)), 1.0 / (1.0 + np.exp(-mean)), rtol=1e-12)


@pytest.mark.thorough
@pytest.mark.parametrize("mean", [-60.0, -4.0, 0.3, 9.0])
@pytest.mark.parametrize("sd", [0.3, 1.59, 1.61, 3.5, 14.0, 90.0])
def test_expectations_under_gaussians_of_any_width_are_those_by_quadrature(mean: float, sd: float) -> None:
    cuts = sorted({*np.linspace(mean - 10.0 * sd, mean + 10.0 * sd, 21), *np.linspace(-30.0, 30.0, 13)})

    def expected(place: int) -> float:
        def integrand(f: float) -> float:
            sigma = 1.0 / (1.0 + float(np.exp(-f))) if f > -700.0 else 0.0
            value = (float(np.logaddexp(0.0, f)), sigma, sigma * (1.0 - sigma))[place]
            return value * float(norm.pdf(f, mean, sd))

        return float(sum(quad(integrand, *cut, epsabs=1e-13, limit=100)[0] for cut in pairwise(cuts)))

    found = expected_softplus(np.array([mean]), np.array([sd**2]))
    for place in range(3):
        assert float(found[place][0]) == pytest.approx(expected(place), rel=1e-7, abs=5e-8)


@pytest.mark.parametrize("sd", [1.5, 1.7, 8.0, 40.0])
def test_each_expectation_is_the_derivative_of_the_one_before(sd: float) -> None:
    """dE/dmean, and dE/dvariance = 1/2 d2E/dmean2: else the bound has no slope that its sites could rest at."""
    mean, variance, step = np.linspace(-3.0 * sd, 3.0 * sd, 7), np.full(7, sd**2), 1e-4 * sd
    _, sigma, slope = expected_softplus(mean, variance)
    above, below = (expected_softplus(mean + off, variance) for off in (step, -step))
    np.testing.assert_allclose((above[0] - below[0]) / (2.0 * step), sigma, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose((above[1] - below[1]) / (2.0 * step), slope, rtol=1e-6, atol=1e-7)
    wider, narrower = (expected_softplus(mean, variance * share)[0] for share in (1.0 + 1e-4, 1.0 - 1e-4))
    np.testing.assert_allclose((wider - narrower) / (2e-4 * variance), 0.5 * slope, rtol=1e-5, atol=1e-7)
