"""Likelihoods of several classes."""

import numpy as np
import pytest
from scipy.special import factorial, logsumexp, ndtr, zeta

from relevance_bayes.core.errors import DataError, OneClassError
from relevance_bayes.core.likelihoods import Categorical
from relevance_bayes.core.likelihoods.base import LatentGaussian
from relevance_bayes.core.likelihoods.bernoulli import integrated_sigmoid
from relevance_bayes.core.likelihoods.categorical import (
    GUMBEL_POINTS,
    GUMBEL_WEIGHTS,
    NARROW_SD,
    _narrow,
    _wide,
    curved,
    integrated_softmax,
)
from relevance_bayes.core.numpy_namespace import NUMPY
from relevance_bayes.core.types import Array
from tests.library.core.drawn import by_differences

DRAWS = 1_000_000
SDS = (0.5, 1.35, 4.0, 30.0)


def means(classes: int, sd: float) -> Array:
    """Two latents that are before all others, and one after another, in what scatters: (2, K)."""
    unit = np.hypot(sd, 1.3)
    before = np.where(np.arange(classes) < 2, 1.5 * unit, 0.0)
    return np.array([before, np.linspace(-2.0, 2.0, classes) * unit])


@pytest.mark.parametrize("classes", [2, 3, 10, 50])
def test_it_is_the_mean_of_a_million_draws(classes: int) -> None:
    rng = np.random.default_rng(classes)
    totals = {sd: np.zeros((2, classes)) for sd in (SDS if classes <= 10 else SDS[1:3])}
    for _ in range(20):
        z = rng.standard_normal((classes, DRAWS // 20), np.float32)  # their rounding is far below the draws' error
        for sd, total in totals.items():
            for place, mean in enumerate(means(classes, sd).astype(np.float32)):
                f = mean[:, None] + np.float32(sd) * z
                e = np.exp(f - f.max(axis=0))
                total[place] += (e / e.sum(axis=0)).sum(axis=1)
    for sd, total in totals.items():
        found = integrated_softmax(means(classes, sd), np.full(2, sd**2))
        # The draws' own error is below .0005.
        np.testing.assert_allclose(found, total / DRAWS, atol=2e-3, err_msg=f"sd {sd}")


def fine(mean: Array, sd: float) -> Array:
    """The same integral by 400 points, of 240 each."""
    unit = np.hypot(sd, 1.3)
    x = np.linspace(mean.max() - 10.0 * unit, mean.max() + 10.0 * unit + 25.0, 400)[:, None] - mean
    if sd < 3.0:
        z = np.linspace(-9.0, 9.0, 240)
        weights = np.exp(-0.5 * z**2) / np.exp(-0.5 * z**2).sum()
        e = np.exp(np.minimum(sd * z - x[..., None], 700.0))
        share, density = np.exp(-e) @ weights, (e * np.exp(-e)) @ weights
    else:
        g = np.linspace(-4.0, 40.0, 240)
        weights = np.exp(-g - np.exp(-g)) / np.exp(-g - np.exp(-g)).sum()
        z = (x[..., None] - g) / sd
        share, density = ndtr(z) @ weights, np.exp(-0.5 * z**2) @ weights
    logs = np.log(np.maximum(share, 1e-300))
    p = (density * np.exp(logs.sum(axis=1, keepdims=True) - logs)).sum(axis=0)
    return np.asarray(p / p.sum())


@pytest.mark.thorough
@pytest.mark.parametrize("classes", [3, 4, 20])
@pytest.mark.parametrize("sd", [0.0, 0.5, 1.29, 1.31, 2.0, 5.0, 40.0])
def test_it_is_what_a_fine_quadrature_computes_and_small_probabilities_keep_their_size(classes: int, sd: float) -> None:
    rng = np.random.default_rng(7)
    for spread in (0.2, 1.0, 3.0):
        mean = spread * np.hypot(sd, 1.3) * rng.standard_normal(classes)
        found, expected = integrated_softmax(mean[None], np.array([sd**2]))[0], fine(mean, sd)
        np.testing.assert_allclose(found, expected, atol=1e-3)
        some = expected > 1e-5
        np.testing.assert_allclose(found[some], expected[some], rtol=0.1)


def test_without_variance_it_is_the_softmax() -> None:
    mean = np.array([[0.0, 3.0, -40.0], [1.0, 1.0, 1.0], [-200.0, 0.0, 300.0]])
    e = np.exp(mean - mean.max(axis=1, keepdims=True))
    found = integrated_softmax(mean, np.zeros(3))
    np.testing.assert_allclose(found[:2], (e / e.sum(axis=1, keepdims=True))[:2], rtol=1e-9)
    np.testing.assert_allclose(found[2], [0.0, 0.0, 1.0], atol=1e-12)


@pytest.mark.parametrize("sd", [0.0, 0.4, 1.2, 1.6, 6.0, 40.0])
def test_of_two_classes_it_is_the_sigmoid_of_their_difference_either_way(sd: float) -> None:
    apart = np.linspace(-6.0, 6.0, 25) * np.hypot(sd, 1.0)
    mean, variance = np.column_stack([np.zeros(25), apart]), np.full(25, sd**2)
    expected = integrated_sigmoid(apart, 2.0 * variance)
    np.testing.assert_allclose(integrated_softmax(mean, variance)[:, 1], expected, rtol=1e-12)
    by_three = (_narrow if sd <= NARROW_SD else _wide)(NUMPY, mean, np.full((25, 1), sd))
    np.testing.assert_allclose(by_three[:, 1], expected, atol=2e-4)


def test_rows_do_not_depend_on_others_and_any_number_of_them_may_come() -> None:
    rng = np.random.default_rng(3)
    mean, variance = rng.normal(size=(700, 20)), rng.uniform(0.0, 5.0, 700)
    complete = integrated_softmax(mean, variance)
    np.testing.assert_array_equal(integrated_softmax(mean[[650]], variance[[650]]), complete[[650]])
    np.testing.assert_allclose(complete.sum(axis=1), 1.0, rtol=1e-12)
    assert integrated_softmax(mean[:0], variance[:0]).shape == (0, 20)


def test_the_rule_of_gumbels_distribution_has_its_moments() -> None:
    g = np.linspace(-5.0, 60.0, 200_001)
    density = np.exp(-g - np.exp(-g)) * (g[1] - g[0])
    for power in range(8):
        assert GUMBEL_WEIGHTS @ GUMBEL_POINTS**power == pytest.approx(float((density * g**power).sum()), rel=1e-6)
    assert GUMBEL_WEIGHTS @ GUMBEL_POINTS == pytest.approx(np.euler_gamma, rel=1e-9)


def test_the_rule_has_the_moments_of_gumbels_distribution_up_to_its_degree() -> None:
    """From the cumulants, Euler's constant and (n - 1)! zeta(n): n points are exact to the degree 2 n - 1."""
    degree = 2 * len(GUMBEL_POINTS) - 1
    cumulants = [np.euler_gamma, *(factorial(n - 1) * zeta(n) for n in range(2, degree + 1))]
    moments = [1.0]
    for n in range(1, degree + 1):
        binomials = [factorial(n - 1) / (factorial(k) * factorial(n - 1 - k)) for k in range(n)]
        moments.append(sum(b * cumulants[n - 1 - k] * moments[k] for k, b in enumerate(binomials)))
    found = [float(GUMBEL_WEIGHTS @ GUMBEL_POINTS**n) for n in range(degree + 1)]
    np.testing.assert_allclose(found, moments, rtol=1e-7)


K = 4
THEIRS = Categorical(K)


def latents(rows: int = 6, seed: int = 0) -> tuple[Array, Array, Array]:
    """t (N,), f (N, K) and v (N,), small and large."""
    rng = np.random.default_rng(seed)
    return (
        rng.integers(K, size=rows).astype(np.float64),
        rng.normal(0.0, 2.0, (rows, K)),
        np.geomspace(0.01, 50.0, rows),
    )


def test_the_classes_share_all_probability() -> None:
    _, f, _ = latents()
    total = sum(np.exp(THEIRS.log_density(np.full(6, float(k)), f, 1.0)) for k in range(K))
    np.testing.assert_allclose(total, 1.0)


def test_the_bound_lies_above_what_it_bounds() -> None:
    """Against two hundred thousand draws of the latents."""
    _, f, v = latents()
    draws = np.random.default_rng(1).standard_normal((200_000, K))
    _, price = THEIRS.tilted(f, v)
    for n in range(6):
        expected = float(logsumexp(f[n] + v[n] ** 0.5 * draws, axis=1).mean())
        assert expected - 0.02 < price[n] <= float(logsumexp(f[n])) + 0.5 * v[n] + 1e-12


def test_the_bound_is_at_its_best() -> None:
    _, f, v = latents()
    p, price = THEIRS.tilted(f, v)

    def bounded(a: Array) -> Array:
        return np.asarray(0.5 * v * np.square(a).sum(axis=1) + logsumexp(f + (0.5 - a) * v[:, None], axis=1))

    np.testing.assert_allclose(bounded(p), price, rtol=1e-12)
    for seed in range(5):
        nudged = p + 1e-3 * np.random.default_rng(seed).standard_normal(p.shape)
        assert (bounded(nudged) >= price - 1e-12).all()


def test_a_latent_without_variance_has_the_plain_sites() -> None:
    t, f, _ = latents()
    found = THEIRS.expected(t, f, np.zeros(6), 1.0)
    precision, gradient = THEIRS.sites(t, f, 1.0)
    np.testing.assert_allclose(found.value, THEIRS.log_density(t, f, 1.0), rtol=1e-12)
    np.testing.assert_allclose(found.gradient, gradient, atol=1e-12)
    np.testing.assert_allclose(found.precision, precision, atol=1e-12)


def test_sites_are_the_slopes_of_the_expected_log_density() -> None:
    t, f, v = latents()
    found = THEIRS.expected(t, f, v, 1.0)
    slopes = by_differences(lambda flat: float(THEIRS.expected(t, flat.reshape(6, K), v, 1.0).value.sum()), f.ravel())
    np.testing.assert_allclose(found.gradient.ravel(), slopes, atol=1e-8)
    falls = by_differences(lambda v: float(THEIRS.expected(t, f, v, 1.0).value.sum()), v)
    np.testing.assert_allclose(found.precision, -2.0 / K * falls, rtol=1e-6, atol=1e-9)


def test_the_curvature_is_the_slope_of_the_gradient() -> None:
    t, f, v = latents()
    direction = np.random.default_rng(2).standard_normal((6, K))
    p, _ = THEIRS.tilted(f, v)
    ahead, behind = (THEIRS.expected(t, f + step * direction, v, 1.0).gradient for step in (1e-5, -1e-5))
    np.testing.assert_allclose(curved(p, v[:, None], direction), (behind - ahead) / 2e-5, atol=1e-8)


def test_the_slope_of_the_precision_is_its_derivative() -> None:
    t, f, _ = latents()
    slopes = by_differences(lambda flat: float(THEIRS.sites(t, flat.reshape(6, K), 1.0)[0].sum()), f.ravel())
    np.testing.assert_allclose(THEIRS.precision_slope(t, f).ravel(), slopes, atol=1e-9)


def test_probabilities_draw_together_as_the_latents_grow_uncertain() -> None:
    mean = np.tile([2.0, 0.0, -1.0, 0.5], (3, 1))
    found = THEIRS.predictive(LatentGaussian(mean, np.array([0.0, 3.0, 1e6]), np.zeros(3)), None)
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1.0)
    sure, less, not_at_all = found.probabilities[:, 0]
    assert sure > less > not_at_all
    assert not_at_all == pytest.approx(0.25, abs=2e-3)
    np.testing.assert_allclose(
        found.log_density(np.array([0.0, 1.0, 2.0])), np.log(found.probabilities[[0, 1, 2], [0, 1, 2]])
    )


def test_what_is_no_class_is_refused() -> None:
    with pytest.raises(DataError, match=r"0\.0 to 3\.0"):
        THEIRS.check(np.array([0.0, 4.0]))
    with pytest.raises(OneClassError, match="class 2"):
        THEIRS.check(np.full(3, 2.0))
