"""Predictions beyond the training range of the inputs."""

from dataclasses import replace
from functools import cache
from typing import get_args

import numpy as np
import pytest

from relevance_bayes.core.basis import Bias, Inputs, KernelBasis
from relevance_bayes.core.kernels.hyperparameters import FixedWidth
from relevance_bayes.core.likelihoods import GaussianNoise, LogGaussian, NumberTarget, Poisson
from relevance_bayes.core.likelihoods.base import LatentGaussian, NumberPrediction
from relevance_bayes.core.likelihoods.counts import NegativeBinomial
from relevance_bayes.core.models.effects import averages, contributions
from relevance_bayes.core.models.fitting import fit
from relevance_bayes.core.models.model import InputRange, Model, Spec
from relevance_bayes.core.models.pool import one_row
from relevance_bayes.core.models.prediction import Ready
from relevance_bayes.core.rows import BLOCK_ROWS, ArrayRows
from relevance_bayes.core.types import Array
from tests.library.core.drawn import process_spec, spec_for

LikelihoodOfLogs = LogGaussian | Poisson | NegativeBinomial

LOG_LINKS: tuple[LikelihoodOfLogs, ...] = (LogGaussian(), Poisson(), NegativeBinomial())
SEEDS = (0, 1, 2)

each_log_link = pytest.mark.parametrize("likelihood", LOG_LINKS, ids=lambda one: one.type)
each_seed = pytest.mark.parametrize("seed", SEEDS)


def heavy_tailed(likelihood: LikelihoodOfLogs, seed: int) -> tuple[Array, Array]:
    """Log-normal x in units of their sd, and targets around a power of them."""
    rng = np.random.default_rng(seed)
    x = np.exp(1.2 * rng.standard_normal(80))
    rate = np.exp(1.5 + np.log(x))
    t = rng.poisson(rate).astype(np.float64)
    return (x / x.std())[:, None], t + 1.0 if likelihood.targets == "positive" else t


@cache
def linear_trend(likelihood: LikelihoodOfLogs, seed: int) -> Model:
    """A kernel and the inputs themselves."""
    X, t = heavy_tailed(likelihood, seed)
    spec = process_spec(likelihood)
    return fit(X, t, replace(spec, basis=(*spec.basis, Inputs())))


def predicted(model: Model, X: Array) -> NumberPrediction:
    prediction, _ = Ready.of(model).predict(X)
    assert isinstance(prediction, NumberPrediction)
    return prediction


def test_the_range_has_a_tenth_more_on_both_sides_whatever_the_blocks() -> None:
    X = np.random.default_rng(3).standard_normal((2 * BLOCK_ROWS + 7, 3))
    found = InputRange.of(ArrayRows(X, np.zeros(len(X)), threads=2))
    low, high = np.sort(X, axis=0)[[0, -1]]
    np.testing.assert_allclose([found.lower, found.upper], [1.1 * low - 0.1 * high, 1.1 * high - 0.1 * low], rtol=1e-13)


def test_an_input_that_is_constant_has_no_range() -> None:
    found = InputRange.of(ArrayRows(np.full((5, 1), 2.5), np.arange(5.0)))
    np.testing.assert_array_equal(found(np.array([[-1.0], [2.5], [9.0]])), np.full((3, 1), 2.5))


@pytest.mark.parametrize("kind", get_args(NumberTarget), ids=lambda kind: kind.__name__)
def test_a_log_link_is_where_the_latent_multiplies_the_mean(kind: type[NumberTarget]) -> None:
    likelihood = kind()
    means = likelihood.predictive(LatentGaussian(np.array([1.0, 3.0]), np.zeros(2), np.zeros(2)), 0.3).mean
    is_logit = likelihood.targets == "share"
    assert likelihood.has_input_range == (is_logit or np.isclose(means[1] / means[0], np.exp(2.0)))


@pytest.mark.thorough
@each_log_link
@each_seed
def test_beyond_the_range_predictions_are_those_at_its_bounds(likelihood: LikelihoodOfLogs, seed: int) -> None:
    model = linear_trend(likelihood, seed)
    bounds = model.input_range
    assert bounds is not None
    at = predicted(model, np.array([bounds.lower, bounds.upper]))
    outside = predicted(model, np.array([bounds.lower - 1e-3, bounds.upper + 1e-3, bounds.lower - 50.0, [1e9]]))
    for figure in ("mean", "noise", "weights", "residual"):
        np.testing.assert_array_equal(getattr(outside, figure), np.tile(getattr(at, figure), 2), err_msg=figure)
    np.testing.assert_array_equal(outside.interval(0.9), np.tile(at.interval(0.9), 2))


@each_log_link
@each_seed
def test_within_the_range_they_are_those_without_one(likelihood: LikelihoodOfLogs, seed: int) -> None:
    model, (X, _) = linear_trend(likelihood, seed), heavy_tailed(likelihood, seed)
    length = np.ptp(X)
    inside = np.linspace(X.min() - 0.099 * length, X.max() + 0.099 * length, 60)[:, None]
    with_bounds, without = predicted(model, inside), predicted(replace(model, input_range=None), inside)
    np.testing.assert_array_equal(with_bounds.mean, without.mean)
    np.testing.assert_array_equal(with_bounds.variance, without.variance)


@each_log_link
def test_no_mean_far_beyond_explodes_as_it_does_without_a_range(likelihood: LikelihoodOfLogs) -> None:
    far = np.linspace(-20.0, 200.0, 50)[:, None]
    exploded = []
    for seed in SEEDS:
        model, (_, t) = linear_trend(likelihood, seed), heavy_tailed(likelihood, seed)
        prediction = predicted(model, far)
        assert prediction.mean.max() <= 10.0 * t.max()
        assert (prediction.mean <= prediction.quantile(0.975)).all()
        exploded.append(predicted(replace(model, input_range=None), far).mean.max() > 1e6 * t.max())
    assert any(exploded)


@pytest.mark.parametrize("likelihood", [LogGaussian(), GaussianNoise()], ids=lambda one: one.type)
def test_independent_weights_have_a_range_under_a_log_link_alone(likelihood: LogGaussian | GaussianNoise) -> None:
    X, t = heavy_tailed(LogGaussian(), 0)
    model = fit(X, t, spec_for(likelihood, width=1.0))
    assert (model.input_range is not None) == likelihood.has_input_range
    if model.input_range is not None:
        assert model.augmentation is not None
        at, outside = (predicted(model, np.full((1, 1), x)) for x in (model.input_range.upper.item(), 1e4))
        np.testing.assert_array_equal([at.mean, at.residual], [outside.mean, outside.residual])


def test_explanations_add_up_to_the_latent_beyond_the_range() -> None:
    model = linear_trend(Poisson(), 0)
    ready, X = Ready.of(model), np.array([[-30.0], [0.5], [90.0]])
    found = contributions(ready, X, len(model.mean))
    np.testing.assert_allclose(found.added.sum(axis=1), ready.latent(X).mean, rtol=1e-10)
    np.testing.assert_allclose(found.total, ready.latent(X).mean, rtol=1e-10)


def test_averages_over_rows_beyond_the_range_are_those_over_rows_at_its_bounds() -> None:
    model = linear_trend(Poisson(), 1)
    assert model.input_range is not None
    ready, X = Ready.of(model), np.array([[-30.0], [0.4], [90.0], [0.7]])
    found, expected = averages(ready, X, 2), averages(ready, model.input_range(X), 2)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    without = averages(Ready.of(replace(model, input_range=None)), X, 2)
    assert not np.allclose(found, without)


def test_a_row_alone_is_not_predicted_in_scalars_where_the_inputs_are_bounded() -> None:
    X, t = heavy_tailed(LogGaussian(), 0)
    model = fit(X, t, Spec(GaussianNoise(), (KernelBasis(width=FixedWidth(1.0)), Bias())))
    assert one_row(Ready.of(model)) is not None
    bounded = replace(model, input_range=InputRange(X.min(axis=0), X.max(axis=0)))
    assert one_row(Ready.of(bounded)) is None
