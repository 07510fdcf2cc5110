"""The probability that a new observation is below a number, for all predictions of numbers at once."""

import numpy as np
import pytest
from scipy.integrate import quad

from relevance_bayes.core.likelihoods import GaussianNoise, Likelihood, LogGaussian, Poisson, StudentT
from relevance_bayes.core.likelihoods.predictive import Latent, NumberPrediction

CONTINUOUS: dict[str, Likelihood] = {
    "gaussian": GaussianNoise(),
    "log_gaussian": LogGaussian(),
    "student_t": StudentT(4.0),
}


def predicted(likelihood: Likelihood, mean: float = 0.4, sd: float = 0.3, rows: int = 1) -> NumberPrediction:
    weights = np.full(rows, sd**2)
    found = likelihood.predictive(Latent(np.full(rows, mean), 0.7 * weights, 0.3 * weights), 0.5)
    assert isinstance(found, NumberPrediction)
    return found


@pytest.mark.parametrize("name", CONTINUOUS)
def test_it_is_what_quantiles_invert(name: str) -> None:
    for share in (0.025, 0.3, 0.5, 0.975):
        prediction = predicted(CONTINUOUS[name])
        below, upto = prediction.distribution(prediction.quantile(share))
        assert (below[0], upto[0]) == pytest.approx((share, share), abs=1e-9)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_it_is_the_integral_of_the_density(name: str) -> None:
    prediction = predicted(CONTINUOUS[name])
    for first, last in ((0.1, 0.9), (0.5, 2.0)):
        mass, _ = quad(lambda y: float(np.exp(prediction.log_density(np.array([y]))[0])), first, last)
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
