"""Likelihoods of counts: Poisson and negative binomial."""

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import nbinom, norm, poisson

from relevance_bayes.core.algorithms import Algorithm, Greedy, Sequential
from relevance_bayes.core.basis import Bias, KernelBasis
from relevance_bayes.core.errors import ConstantTargetError, DataError
from relevance_bayes.core.kernels.hyperparameters import EvidencePerInputWidth, FixedWidth, Width
from relevance_bayes.core.likelihoods import Poisson
from relevance_bayes.core.likelihoods.base import LatentGaussian, LikelihoodBase
from relevance_bayes.core.likelihoods.counts import (
    CountLikelihood,
    CountPrediction,
    NegativeBinomial,
    PoissonPrediction,
)
from relevance_bayes.core.models.fitting import fit
from relevance_bayes.core.models.model import Model, Prior, Spec
from relevance_bayes.core.models.prediction import predict
from relevance_bayes.core.priors import GaussianProcess, Independent
from relevance_bayes.core.selection import Rows, Selection, Trained, train
from relevance_bayes.core.tracing import A, Namespace
from relevance_bayes.core.types import Array, ForRows
from tests.properties import examples

each_latent = pytest.mark.parametrize("mean", [-3.0, 0.5, 4.0, 9.0])
each_sd = pytest.mark.parametrize("sd", [1e-4, 0.05, 0.5, 2.0])


def predicted(mean: float, sd: float, rows: int = 1) -> PoissonPrediction:
    half = np.full(rows, 0.5 * sd**2)
    return Poisson().predictive(LatentGaussian(np.full(rows, mean), half, half), None)


def probability(count: float, mean: float, sd: float) -> float:
    """By quadrature over the latent, about where the count speaks for it."""
    mode = np.clip((np.log(count + 0.5) - mean) / sd, -9.0, 9.0)
    cuts = sorted({-12.0, 12.0, *(float(np.clip(mode + d, -12.0, 12.0)) for d in (-3.0, -0.5, 0.0, 0.5, 3.0))})
    return sum(
        quad(lambda z: float(poisson.pmf(count, np.exp(mean + sd * z)) * norm.pdf(z)), low, high, epsabs=1e-16)[0]
        for low, high in pairwise(cuts)
    )


@each_latent
@each_sd
def test_the_probability_of_a_count_is_the_integral_over_the_latent(mean: float, sd: float) -> None:
    rate = float(np.exp(mean))
    counts = np.unique(np.round([0.0, rate, rate * np.exp(sd), rate * np.exp(-2.0 * sd)]))
    found = predicted(mean, sd, len(counts)).log_density(counts)
    expected = np.array([probability(float(count), mean, sd) for count in counts])
    kept = expected > 1e-13
    np.testing.assert_allclose(found[kept], np.log(expected[kept]), atol=1e-5)


@each_latent
@each_sd
@pytest.mark.parametrize("share", [0.025, 0.5, 0.975])
def test_a_quantile_is_the_least_count_of_enough_probability(mean: float, sd: float, share: float) -> None:
    (found,) = predicted(mean, sd).quantile(share)

    def below(count: float) -> float:
        z = np.linspace(-8.5, 8.5, 20_001)
        weights = norm.pdf(z) / norm.pdf(z).sum()
        return float(poisson.cdf(count, np.exp(mean + sd * z)) @ weights)

    assert below(float(found)) >= share - 1e-7
    assert below(float(found) - 1.0) < share + 1e-7


@each_sd
def test_mean_and_variance_are_those_of_a_log_normal_rate(sd: float) -> None:
    prediction = predicted(1.0, sd)
    mean = np.exp(1.0 + 0.5 * sd**2)
    np.testing.assert_allclose(prediction.mean, mean)
    np.testing.assert_allclose(prediction.variance, mean + mean**2 * np.expm1(sd**2))
    np.testing.assert_allclose(prediction.weights, prediction.residual)


def test_a_known_rate_leaves_only_its_own_scatter() -> None:
    prediction = predicted(1.0, 0.0)
    np.testing.assert_allclose(prediction.variance, np.e)
    np.testing.assert_allclose(np.exp(prediction.log_density(np.array([3.0]))), poisson.pmf(3, np.e), rtol=1e-6)


def test_what_is_no_count_has_no_probability() -> None:
    assert predicted(1.0, 0.1, 2).log_density(np.array([0.5, -1.0])).max() == -np.inf


def test_an_endless_rate_stays_finite() -> None:
    prediction = predicted(250.0, 3.0)
    assert np.isfinite(prediction.quantile(0.975)).all()
    assert np.isfinite(prediction.mean).all()


@pytest.mark.parametrize("t", [[0.5, 1.0], [-1.0, 2.0]])
def test_targets_that_are_no_counts_are_refused(t: list[float]) -> None:
    with pytest.raises(DataError, match="whole numbers from 0"):
        Poisson().check(np.array(t))


def test_nothing_but_zeros_is_refused() -> None:
    with pytest.raises(ConstantTargetError, match="all are 0"):
        Poisson().check(np.zeros(4))


def test_the_evidence_of_counts_is_by_laplaces_method() -> None:
    X = np.linspace(-1.0, 1.0, 12)[:, None]
    spec = Spec(Poisson(), (KernelBasis(width=FixedWidth(1.0)), Bias()), Independent())
    assert fit(X, np.arange(12.0), spec).evidence.kind == "laplace"


DISPERSIONS = (0.05, 0.7, 3.0, 200.0)

each_dispersion = pytest.mark.parametrize("dispersion", DISPERSIONS)


def latent(mean: float, sd: float, rows: int = 1) -> LatentGaussian:
    return LatentGaussian(np.full(rows, mean), np.full(rows, 0.75 * sd**2), np.full(rows, 0.25 * sd**2))


def probabilities(counts: Array, mean: float, sd: float, dispersion: float) -> Array:
    """Those of counts, the trapezoidal rule over the latent in the place of all that the likelihood does."""
    z = np.linspace(-9.0, 9.0, 401)
    share = dispersion / (dispersion + np.exp(mean + sd * z))
    weights = norm.pdf(z) / norm.pdf(z).sum()
    return np.asarray(nbinom.pmf(counts[:, None], dispersion, share) @ weights)


@each_dispersion
def test_the_log_density_is_scipys(dispersion: float) -> None:
    t, f = np.array([0.0, 1.0, 7.0, 300.0]), np.array([-1.0, 0.5, 3.0, 5.0])
    expected = nbinom.logpmf(t, dispersion, dispersion / (dispersion + np.exp(f)))
    np.testing.assert_allclose(NegativeBinomial(dispersion).log_density(t, f, 1.0), expected, rtol=1e-9)


@given(st.floats(-2.0, 2.0), st.floats(0.02, 0.8), st.floats(0.7, 300.0))
@example(mean=0.0, sd=0.5520680617870889, dispersion=1.0)
@settings(max_examples=examples(4), deadline=None)
def test_moments_and_distribution_are_those_of_brute_force_sums(mean: float, sd: float, dispersion: float) -> None:
    counts = np.arange(4_000.0)
    p = probabilities(counts, mean, sd, dispersion)
    found = NegativeBinomial(dispersion).predictive(latent(mean, sd), None)
    expected = float(p @ counts)
    assert found.mean[0] == pytest.approx(expected, rel=1e-6)
    assert found.variance[0] == pytest.approx(float(p @ (counts - expected) ** 2), rel=1e-4)
    at = np.array([0.0, 1.0, np.ceil(expected), np.ceil(3.0 * expected)])
    several = NegativeBinomial(dispersion).predictive(latent(mean, sd, 4), None)
    np.testing.assert_allclose(np.exp(several.log_density(at)), p[at.astype(int)], rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(several.distribution(at)[1], np.cumsum(p)[at.astype(int)], rtol=1e-7, atol=1e-9)
    cumulative = np.cumsum(p)
    for share in (0.05, 0.5, 0.9):
        count = int(found.quantile(share)[0])
        # Where a count's cumulative probability is the share itself, rounding decides between it and the next.
        assert cumulative[count] > share - 1e-9
        assert count == 0 or cumulative[count - 1] < share + 1e-9


@pytest.mark.parametrize("sd", [0.01, 0.3, 2.0])
@each_dispersion
def test_the_distribution_is_the_integral_over_the_latent(sd: float, dispersion: float) -> None:
    counts, mean = np.array([0.0, 3.0, 40.0, 2_000.0]), 2.5
    found = NegativeBinomial(dispersion).predictive(latent(mean, sd, 4), None).distribution(counts)[1]
    for count, share in zip(counts, found, strict=True):
        middle = float(np.clip((np.log(count + 0.5) - mean) / sd, -8.0, 8.0))
        expected, _ = quad(
            lambda z, count=count: (
                nbinom.cdf(count, dispersion, dispersion / (dispersion + np.exp(mean + sd * z))) * norm.pdf(z)
            ),
            *(-9.0, 9.0),
            points=[middle],
            limit=400,
            epsabs=1e-11,
        )
        assert share == pytest.approx(expected, abs=1e-7)


@each_dispersion
def test_closed_forms_are_what_the_base_comes_to_by_quadrature(dispersion: float) -> None:
    likelihood = NegativeBinomial(dispersion)
    t, f = np.array([0.0, 2.0, 9.0, 60.0]), np.array([-0.5, 1.0, 2.0, 4.5])
    v = np.array([1e-4, 0.1, 0.5, 0.9])
    ours, by_quadrature = likelihood.expected(t, f, v, 1.0), LikelihoodBase.expected(likelihood, t, f, v, 1.0)
    for one, other in ((ours.value, by_quadrature.value), (ours.gradient, by_quadrature.gradient)):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=5e-6)
    np.testing.assert_allclose(ours.precision, by_quadrature.precision, rtol=1e-6, atol=5e-6)
    np.testing.assert_allclose(
        likelihood.cumulative(t, f), CountLikelihood.cumulative(likelihood, t, f), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("dispersion", [0.3, 3.0, 40.0])
def test_the_dispersion_is_that_of_the_largest_sum(dispersion: float) -> None:
    _, t = counts_of(dispersion, 200)
    f, v = np.full(200, np.log(t.mean())), np.full(200, 0.02)
    found, by_search = NegativeBinomial().tuned(t, f, v, 1.0), LikelihoodBase.tuned(NegativeBinomial(), t, f, v, 1.0)
    assert found.shape_or_first == pytest.approx(by_search.shape_or_first, rel=1e-4)
    best = float(found.expected(t, f, v, 1.0).value.sum())
    for factor in (0.99, 1.01):
        other = NegativeBinomial(factor * found.shape_or_first)
        assert float(other.expected(t, f, v, 1.0).value.sum()) < best


def test_equal_counts_have_the_largest_dispersion_and_zeros_with_one_large_count_the_least() -> None:
    f, v = np.zeros(50), np.full(50, 0.01)
    assert NegativeBinomial().tuned(np.ones(50), f, v, 1.0).dispersion == 1e4
    rare = np.zeros(50)
    rare[0] = 1e6
    assert NegativeBinomial().tuned(rare, f - 12.0, v, 1.0).shape_or_first < 0.02
    assert NegativeBinomial(2.0).tuned(rare, f, v, 1.0).dispersion == 2.0


def test_with_a_great_dispersion_it_is_poisson() -> None:
    t, f, v = np.array([0.0, 3.0, 20.0]), np.array([0.0, 1.0, 3.0]), np.array([0.1, 0.3, 0.01])
    near, poisson = NegativeBinomial(1e4), Poisson()
    np.testing.assert_allclose(near.log_density(t, f, 1.0), poisson.log_density(t, f, 1.0), atol=3e-3)
    np.testing.assert_allclose(near.expected(t, f, v, 1.0).gradient, poisson.expected(t, f, v, 1.0).gradient, atol=5e-2)
    there = LatentGaussian(f, v, v)
    ours, theirs = near.predictive(there, None), poisson.predictive(there, None)
    np.testing.assert_allclose(ours.mean, theirs.mean, rtol=1e-12)
    np.testing.assert_allclose(ours.variance, theirs.variance, rtol=5e-3)
    np.testing.assert_allclose(ours.distribution(t)[1], theirs.distribution(t)[1], atol=1e-3)
    # The difference is of the first order in 1/dispersion.
    far = [
        np.abs(NegativeBinomial(k).log_density(t, f, 1.0) - poisson.log_density(t, f, 1.0)).max() for k in (1e3, 1e4)
    ]
    assert far[0] / far[1] == pytest.approx(10.0, rel=0.05)


def counts_of(dispersion: float, rows: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(4)
    X = rng.uniform(-3.0, 3.0, (rows, 1))
    rate = np.exp(1.5 + np.sin(2.0 * X[:, 0]))
    return X, rng.negative_binomial(dispersion, dispersion / (dispersion + rate)).astype(np.float64)


def learned(spec: Spec, X: Array, t: Array) -> Model:
    *_, found = train(Rows(X, t), Selection(spec))
    assert isinstance(found, Trained)
    assert isinstance(found.learned, Model)
    return found.learned


@pytest.mark.parametrize(
    ("prior", "algorithm", "width"),
    [
        pytest.param(GaussianProcess("rows"), Greedy(), EvidencePerInputWidth(), id="process"),
        pytest.param(Independent(), Sequential(), FixedWidth(1.5), id="independent", marks=pytest.mark.thorough),
    ],
)
def test_the_dispersion_is_learned_by_every_prior_and_predicts_better_than_poisson(
    prior: Prior, algorithm: Algorithm, width: Width
) -> None:
    X, t = counts_of(3.0, 250)
    unseen, targets = counts_of(3.0, 600)
    basis = (KernelBasis(width=width), Bias())
    model = learned(Spec(NegativeBinomial(), basis, prior, algorithm), X, t)
    assert isinstance(model.likelihood, NegativeBinomial)
    assert isinstance(model.likelihood.dispersion, float)
    assert 1.8 < model.likelihood.dispersion < 5.0
    plain = learned(Spec(Poisson(), basis, prior, algorithm), X, t)
    assert model.evidence.value > plain.evidence.value + 20.0
    assert predict(model, unseen).log_density(targets).mean() > predict(plain, unseen).log_density(targets).mean()


@dataclass(frozen=True)
class ThreeMethods(CountLikelihood):
    """Counts with a geometric distribution of mean e^f, which is the negative binomial of dispersion 1."""

    type: Literal["geometric"] = "geometric"

    is_log_concave: ClassVar[bool] = True

    def log_density(self, t: Array, f: Array, beta: ForRows) -> Array:
        """t log p + log(1 - p), p = e^f/(1 + e^f)."""
        return np.asarray(t * f - (t + 1.0) * np.logaddexp(0.0, f))

    def sites(self, t: Array, f: Array, beta: ForRows) -> tuple[Array, Array]:
        """(t + 1) p (1 - p) and t - (t + 1) p."""
        p = 1.0 / (1.0 + np.exp(-f))
        return (t + 1.0) * p * (1.0 - p), t - (t + 1.0) * p

    def moments(self, xp: Namespace[A], mean: A, variance: A, noise: A) -> tuple[A, A, A]:
        """Of mean mu = e^f and variance mu + mu^2."""
        rate, spread = xp.exp(mean + 0.5 * variance), xp.exp(variance)
        return rate, rate + xp.square(rate) * spread, xp.square(rate) * (spread - 1.0)


def test_three_methods_suffice() -> None:
    ours, closed = ThreeMethods(), NegativeBinomial(1.0)
    t, f, v = np.array([0.0, 2.0, 9.0]), np.array([-0.5, 1.0, 2.0]), np.array([1e-4, 0.1, 0.5])
    for one, other in zip(
        (ours.expected(t, f, v, 1.0).value, ours.expected(t, f, v, 1.0).precision, ours.precision_slope(t, f)),
        (closed.expected(t, f, v, 1.0).value, closed.expected(t, f, v, 1.0).precision, closed.precision_slope(t, f)),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)
    there = LatentGaussian(f, v, 0.5 * v)
    found, expected = ours.predictive(there, None), closed.predictive(there, None)
    assert isinstance(found, CountPrediction)
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-12)
    np.testing.assert_allclose(found.variance, expected.variance, rtol=1e-12)
    np.testing.assert_allclose(found.distribution(t)[1], expected.distribution(t)[1], rtol=1e-9)
    np.testing.assert_array_equal(found.quantile(0.9), expected.quantile(0.9))
    np.testing.assert_allclose(found.log_density(t), expected.log_density(t), rtol=1e-10)
    np.testing.assert_array_equal(ours.first(t, v)[0], np.log(t + 0.5))
