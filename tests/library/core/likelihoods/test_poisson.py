from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm, poisson

from relevance_bayes.core.basis import Bias, KernelBasis
from relevance_bayes.core.errors import ConstantTargetError, DataError
from relevance_bayes.core.fitting import fit
from relevance_bayes.core.hyperparameters import FixedWidth
from relevance_bayes.core.likelihoods import Poisson
from relevance_bayes.core.likelihoods.base import LatentGaussian
from relevance_bayes.core.likelihoods.poisson import PoissonPrediction
from relevance_bayes.core.priors import Independent
from relevance_bayes.core.spec import Spec

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
