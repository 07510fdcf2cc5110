"""Temperatures: what they make of probabilities, and which fits rows that were not learned from."""

from dataclasses import replace

import numpy as np
import pytest

from relevance_bayes.core.likelihoods import Bernoulli, BernoulliPerClass, Categorical, ClassLikelihood, OneAgainstRest
from relevance_bayes.core.likelihoods.base import LatentGaussian
from relevance_bayes.core.likelihoods.temperature import (
    LOG_TEMPERATURE_SD,
    MAX_TEMPERATURE,
    MIN_TEMPERATURE,
    fitted_temperature,
    tempered,
)
from relevance_bayes.core.numpy_namespace import NUMPY
from relevance_bayes.core.types import Array


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
