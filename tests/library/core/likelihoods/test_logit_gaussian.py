"""Targets between 0 and 1 whose logit has Gaussian noise."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, logit

from relevance_bayes.core.errors import ConstantTargetError, DataError
from relevance_bayes.core.likelihoods import GaussianNoise, LogitGaussian
from relevance_bayes.core.likelihoods.base import LatentGaussian, NumberPrediction
from relevance_bayes.core.likelihoods.gaussian import RealPrediction
from relevance_bayes.core.likelihoods.transformed_gaussian import SharePrediction
from relevance_bayes.core.models.fitting import fit
from relevance_bayes.core.models.prediction import predict
from relevance_bayes.core.types import Array
from tests.library.core.drawn import process_spec, sinc, spec_for

PLACES = pytest.mark.parametrize(("mean", "sd", "noise_sd"), [(0.5, 0.4, 0.5), (-3.0, 1.0, 0.2), (2.0, 0.1, 1.5)])


def predicted(mean: float = 0.5, sd: float = 0.4, noise_sd: float = 0.5, rows: int = 1) -> SharePrediction:
    variance = np.full(rows, sd**2)
    return LogitGaussian().predictive(LatentGaussian(np.full(rows, mean), 0.25 * variance, 0.75 * variance), noise_sd)


def density(prediction: NumberPrediction, t: float) -> float:
    return float(np.exp(prediction.log_density(np.array([t]))[0]))


@PLACES
def test_the_density_integrates_to_one_and_to_the_moments(mean: float, sd: float, noise_sd: float) -> None:
    prediction = predicted(mean, sd, noise_sd)
    mass, first, second = (
        quad(lambda t, power=power: t**power * density(prediction, t), 0.0, 1.0, limit=400)[0] for power in (0, 1, 2)
    )
    assert mass == pytest.approx(1.0, abs=1e-7)
    assert prediction.mean[0] == pytest.approx(first, abs=1e-7)
    assert prediction.variance[0] == pytest.approx(second - first**2, rel=1e-5)


@PLACES
def test_quantiles_are_those_of_a_sample(mean: float, sd: float, noise_sd: float) -> None:
    rng, prediction = np.random.default_rng(0), predicted(mean, sd, noise_sd)
    drawn = expit(mean + np.hypot(sd, noise_sd) * rng.standard_normal(400_000))
    for probability in (0.05, 0.5, 0.95):
        share = np.mean(drawn <= prediction.quantile(probability)[0])
        assert share == pytest.approx(probability, abs=0.002)


def test_the_parts_of_its_variance_are_those_of_the_law_of_total_variance() -> None:
    rng, prediction = np.random.default_rng(0), predicted()
    f = 0.5 + 0.4 * rng.standard_normal(4_000)
    given = expit(f[:, None] + 0.5 * rng.standard_normal(4_000))
    np.testing.assert_allclose(prediction.weights + prediction.residual, given.mean(axis=1).var(), rtol=0.06)
    np.testing.assert_allclose(prediction.noise, given.var(axis=1).mean(), rtol=0.03)
    np.testing.assert_allclose(prediction.residual, 3.0 * prediction.weights)


@pytest.mark.parametrize("tails", [None, 2.5])
@pytest.mark.parametrize("mean", [-800.0, -20.0, 0.0, 20.0, 800.0])
def test_ends_and_median_are_ordered_between_zero_and_one(mean: float, tails: float | None) -> None:
    logits = RealPrediction(np.array([mean]), np.ones(1), np.full(1, 4.0), np.full(1, 30.0))
    prediction = SharePrediction.of(logits if tails is None else logits.integrated(1.2, tails))
    (lower, upper), median = prediction.interval(0.95), prediction.quantile(0.5)
    assert 0.0 < lower <= median <= upper < 1.0
    assert 0.0 < prediction.mean < 1.0


def test_numbers_that_are_no_shares_have_no_density() -> None:
    at = np.array([-1.0, 0.0, 1.0, 2.0])
    assert predicted(rows=4).log_density(at).max() == -np.inf
    _, upto = predicted(rows=4).distribution(at)
    np.testing.assert_array_equal(upto, [0.0, 0.0, 1.0, 1.0])


@pytest.mark.parametrize("prior", ["independent", "process"])
def test_it_learns_what_gaussian_noise_learns_of_the_logit(prior: str) -> None:
    X, logits = sinc(60, 0)
    of = spec_for if prior == "independent" else process_spec
    one, other = fit(X, expit(logits), of(LogitGaussian())), fit(X, logits, of(GaussianNoise()))
    t = expit(logits)
    assert one.evidence.value == pytest.approx(other.evidence.value - np.log(t * (1.0 - t)).sum(), rel=1e-9)
    np.testing.assert_allclose(one.mean, other.mean, rtol=1e-6)
    np.testing.assert_allclose(logit(predict(one, X).quantile(0.9)), predict(other, X).quantile(0.9), rtol=1e-6)  # type: ignore[union-attr]


def beta_shares(rows: int, seed: int) -> tuple[Array, Array]:
    """Shares of Beta distributions, some near 0."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2.0, 2.0, rows)
    mean = expit(1.5 * x - 1.0)
    return x[:, None], rng.beta(8.0 * mean, 8.0 * (1.0 - mean))


def test_intervals_cover_what_they_state_of_shares_of_a_beta_distribution() -> None:
    X, t = beta_shares(120, 0)
    found = predict(fit(X, t, process_spec(LogitGaussian())), beta_shares(2_000, 1)[0])
    assert isinstance(found, NumberPrediction)
    lower, upper = found.interval(0.9)
    new = beta_shares(2_000, 1)[1]
    assert 0.86 <= np.mean((lower <= new) & (new <= upper)) <= 0.94


@pytest.mark.parametrize("other", [0.0, 1.0, -0.5, 1.5])
def test_targets_that_are_no_shares_are_refused(other: float) -> None:
    with pytest.raises(DataError, match="between 0 and 1"):
        LogitGaussian().check(np.array([0.5, other]))


def test_targets_that_are_all_one_number_are_refused() -> None:
    with pytest.raises(ConstantTargetError, match="differ"):
        LogitGaussian().check(np.full(3, 0.25))
