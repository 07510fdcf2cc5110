"""The probability that a new observation is below a number, for all predictions of numbers at once."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from scipy.integrate import quad

from relevance_bayes.core.likelihoods import GaussianNoise, Likelihood, LogGaussian, LogitGaussian, Poisson, StudentT
from relevance_bayes.core.likelihoods.base import LatentGaussian, NumberPrediction
from relevance_bayes.core.likelihoods.gaussian import RealPrediction
from relevance_bayes.core.likelihoods.transformed_gaussian import PositivePrediction, SharePrediction

CONTINUOUS: dict[str, Likelihood] = {
    "gaussian": GaussianNoise(),
    "log_gaussian": LogGaussian(),
    "logit_gaussian": LogitGaussian(),
    "student_t": StudentT(4.0),
}

INTEGRATED = 2.5
"""The degrees of freedom of predictions whose noise variance is integrated."""


def predicted(likelihood: Likelihood, mean: float = 0.4, sd: float = 0.3, rows: int = 1) -> NumberPrediction:
    weights = np.full(rows, sd**2)
    found = likelihood.predictive(LatentGaussian(np.full(rows, mean), 0.7 * weights, 0.3 * weights), 0.5)
    assert isinstance(found, NumberPrediction)
    return found


def each(name: str) -> list[NumberPrediction]:
    """The prediction, and where the noise is Gaussian that with an integrated noise variance."""
    found = predicted(CONTINUOUS[name])
    match found:
        case RealPrediction():
            return [found, found.integrated(1.25, INTEGRATED)]
        case PositivePrediction(log=log):
            return [found, PositivePrediction.of(log.integrated(1.25, INTEGRATED))]
        case SharePrediction(logit=logit):
            return [found, SharePrediction.of(logit.integrated(1.25, INTEGRATED))]
        case _:
            return [found]


@pytest.mark.parametrize("name", CONTINUOUS)
def test_it_is_what_quantiles_invert(name: str) -> None:
    for share, prediction in product((0.025, 0.3, 0.5, 0.975), each(name)):
        below, upto = prediction.distribution(prediction.quantile(share))
        assert (below[0], upto[0]) == pytest.approx((share, share), abs=1e-9)


def _density(prediction: NumberPrediction, y: float) -> float:
    return float(np.exp(prediction.log_density(np.array([y]))[0]))


@pytest.mark.parametrize("name", CONTINUOUS)
def test_it_is_the_integral_of_the_density(name: str) -> None:
    for (first, last), prediction in product(((0.1, 0.9), (0.5, 0.97)), each(name)):
        density = partial(_density, prediction)
        mass, _ = quad(density, first, last)
        (start,), (stop,) = (prediction.distribution(np.array([end]))[1] for end in (first, last))
        assert stop - start == pytest.approx(mass, abs=1e-8)


@pytest.mark.parametrize("sd", [0.1, 1.5])
def test_counts_have_a_step_at_each_whole_number(sd: float) -> None:
    counts = np.arange(6.0)
    prediction = predicted(Poisson(), sd=sd, rows=6)
    below, upto = prediction.distribution(counts)
    assert upto - below == pytest.approx(np.exp(prediction.log_density(counts)), abs=1e-8)
    assert below[0] == 0.0
    assert below[1:] == pytest.approx(upto[:-1])
    between = prediction.distribution(counts + 0.5)
    assert between[0] == pytest.approx(upto)
    assert between[1] == pytest.approx(upto)
    assert prediction.distribution(counts - 7.0)[1] == pytest.approx(0.0)


def test_nothing_is_below_zero_where_logarithms_are_learned() -> None:
    below, upto = predicted(LogGaussian(), rows=2).distribution(np.array([-1.0, 0.0]))
    assert (below.tolist(), upto.tolist()) == ([0.0, 0.0], [0.0, 0.0])
