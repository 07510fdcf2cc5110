import numpy as np
import pytest
from scipy.special import logsumexp

from relevance_bayes.core.errors import DataError, OneClassError
from relevance_bayes.core.likelihoods import Categorical
from relevance_bayes.core.likelihoods.base import LatentGaussian
from relevance_bayes.core.likelihoods.categorical import curved
from relevance_bayes.core.types import Array
from tests.library.core.drawn import by_differences

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
