"""Gaussian likelihoods of logarithms, and of logarithms of variances."""

import numpy as np
import pytest
from scipy.stats import lognorm

from relevance_bayes.core.errors import ConstantTargetError, DataError
from relevance_bayes.core.likelihoods import GaussianNoise, LogGaussian, LogVariance
from relevance_bayes.core.likelihoods.base import LatentGaussian
from relevance_bayes.core.likelihoods.transformed_gaussian import PositivePrediction
from relevance_bayes.core.models.fitting import fit
from relevance_bayes.core.models.prediction import predict
from tests.library.core.drawn import process_spec, sinc, spec_for


def predicted(rows: int = 1) -> PositivePrediction:
    latent = LatentGaussian(np.full(rows, 1.0), np.full(rows, 0.04), np.full(rows, 0.12))
    return LogGaussian().predictive(latent, 0.5)


def test_it_is_the_log_normal_distribution() -> None:
    prediction, exact = predicted(), lognorm((0.25 + 0.16) ** 0.5, scale=np.e)
    np.testing.assert_allclose(prediction.mean, exact.mean())
    np.testing.assert_allclose(prediction.variance, exact.var())
    for probability in (0.025, 0.5, 0.9):
        np.testing.assert_allclose(prediction.quantile(probability), exact.ppf(probability))
    at = np.array([0.1, 1.0, 7.0])
    np.testing.assert_allclose(predicted(3).log_density(at), exact.logpdf(at))


def test_the_parts_of_its_variance_are_those_of_the_law_of_total_variance() -> None:
    rng = np.random.default_rng(0)
    f = 1.0 + 0.4 * rng.standard_normal(2_000_000)
    means = np.exp(f + 0.125)
    prediction = predicted()
    np.testing.assert_allclose(prediction.weights + prediction.residual, means.var(), rtol=0.02)
    np.testing.assert_allclose(prediction.noise, (means**2).mean() * np.expm1(0.25), rtol=0.02)
    np.testing.assert_allclose(prediction.residual, 3.0 * prediction.weights)


def test_numbers_that_are_not_positive_have_no_density() -> None:
    assert predicted(2).log_density(np.array([0.0, -1.0])).max() == -np.inf


def test_a_variance_beyond_float64_stays_finite() -> None:
    latent = LatentGaussian(np.array([600.0]), np.array([50.0]), np.array([1e4]))
    prediction = LogGaussian().predictive(latent, 2.0)
    assert np.isfinite(prediction.variance).all()
    assert np.isfinite(prediction.quantile(0.975)).all()


@pytest.mark.parametrize("prior", ["independent", "process"])
def test_it_learns_what_gaussian_noise_learns_of_the_logarithm(prior: str) -> None:
    X, logs = sinc(60, 0)
    of = spec_for if prior == "independent" else process_spec
    one, other = fit(X, np.exp(logs), of(LogGaussian())), fit(X, logs, of(GaussianNoise()))
    assert one.evidence.value == pytest.approx(other.evidence.value - logs.sum(), rel=1e-9)
    np.testing.assert_allclose(one.mean, other.mean, rtol=1e-6)
    np.testing.assert_allclose(predict(one, X).quantile(0.5), np.exp(predict(other, X).quantile(0.5)), rtol=1e-6)  # type: ignore[union-attr]


@pytest.mark.parametrize("minimum", [0.0, -1.0])
def test_targets_that_are_not_positive_are_refused(minimum: float) -> None:
    with pytest.raises(DataError, match="above 0"):
        LogGaussian().check(np.array([1.0, minimum]))


def test_targets_that_are_all_one_number_are_refused() -> None:
    with pytest.raises(ConstantTargetError, match="differ"):
        LogGaussian().check(np.full(3, 2.0))


def test_targets_are_squares_of_which_some_are_above_0() -> None:
    LogVariance().check(np.array([0.0, 4.0, 1.0]))
    with pytest.raises(DataError, match="expected squares, got -1"):
        LogVariance().check(np.array([4.0, -1.0]))
    with pytest.raises(DataError):
        LogVariance().check(np.array([4.0, np.nan]))
    with pytest.raises(ConstantTargetError, match="all are 0"):
        LogVariance().check(np.zeros(3))
