"""import tracemalloc"""

import tracemalloc
from dataclasses import replace
from functools import cache
from math import log, pi

import numpy as np
import pytest
from scipy.stats import norm

from relevance_bayes.core import priors as gaussian_process
from relevance_bayes.core.basis import KernelFunctions
from relevance_bayes.core.errors import DataError
from relevance_bayes.core.kernels.hyperparameters import FixedWidth
from relevance_bayes.core.likelihoods import Bernoulli, GaussianNoise, Likelihood
from relevance_bayes.core.models import prediction as module
from relevance_bayes.core.models.fitting import fit
from relevance_bayes.core.models.model import Model, Spec
from relevance_bayes.core.models.prediction import (
    ClassPrediction,
    LatentGaussian,
    Ready,
    RealPrediction,
    latent,
    predict,
    scores,
)
from relevance_bayes.core.priors import JITTER
from relevance_bayes.core.types import Array
from tests.library.core.drawn import (
    LIKELIHOODS,
    WIDTHS,
    process_spec,
    ripley,
    rows_for,
    sigmoid_by_quadrature,
    sinc,
    spec_for,
)


def two_classes(probability: Array) -> ClassPrediction:
    zeros = np.zeros(len(probability))
    return ClassPrediction(np.column_stack([1.0 - probability, probability]), zeros, zeros)


def parts(found: LatentGaussian) -> tuple[Array, Array, Array]:
    return found.mean, found.weights, found.residual


def columns_at(model: Model, X: Array) -> Array:
    """The model's functions at X, one after the other."""
    return np.hstack([functions(X, np.arange(functions.size)) for functions in model.functions])


NEW = np.linspace(-14.0, 14.0, 57)[:, None]


@pytest.mark.parametrize("noise_sd", ["learned", 0.1])
def test_the_variance_has_the_parts_of_noise_and_weights(noise_sd: float | str) -> None:
    likelihood = GaussianNoise() if noise_sd == "learned" else GaussianNoise(0.1)
    model = fit(*sinc(40, 0), spec_for(likelihood))
    predicted = predict(model, NEW)
    assert isinstance(predicted, RealPrediction)
    P = columns_at(model, NEW)
    np.testing.assert_allclose(predicted.mean, P @ model.mean, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(predicted.weights, (P @ model.covariance @ P.T).diagonal(), rtol=1e-8, atol=1e-18)
    assert model.noise_sd is not None
    np.testing.assert_array_equal(predicted.noise, model.noise_sd**2)


def test_a_probability_has_the_latent_variance_integrated() -> None:
    model = fit(*ripley(60, 0), spec_for(Bernoulli()))
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (12, 2))
    predicted = predict(model, X)
    assert isinstance(predicted, ClassPrediction)
    expected = [
        sigmoid_by_quadrature(float(mean), float(variance) ** 0.5)
        for mean, variance in zip(predicted.latent_mean, predicted.latent_variance, strict=True)
    ]
    np.testing.assert_allclose(predicted.probability, expected, atol=1e-10)
    plain = 1.0 / (1.0 + np.exp(-predicted.latent_mean))
    assert (np.abs(predicted.probability - 0.5) <= np.abs(plain - 0.5) + 1e-12).all()


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_points_predicted_in_chunks_are_predicted_alike(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    likelihood = LIKELIHOODS[name]
    X, t = rows_for(likelihood, 40, 0)
    model = fit(X, t, spec_for(likelihood))
    complete = parts(latent(model, X))
    monkeypatch.setattr(module, "BLOCK_BYTES", 8 * len(model.mean) * 7)
    monkeypatch.setattr(module, "MIN_ROWS", 1)
    for one, other in zip(parts(latent(model, X)), complete, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-15)
    alone = [latent(model, X[[n]]).mean[0] for n in range(len(X))]
    np.testing.assert_allclose(alone, complete[0], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("noise", [0.0, 1e-6, 0.1])
def test_a_latent_variance_is_never_negative(noise: float) -> None:
    X, t = sinc(60, 1, noise=noise)
    model = fit(X, 1e6 * t, spec_for(GaussianNoise(), width=6.0))
    for points in (X, NEW, 1e6 * NEW):
        assert latent(model, points).weights.min() >= 0.0


def test_far_from_the_data_only_the_bias_is_left() -> None:
    model = fit(*sinc(40, 0), spec_for(GaussianNoise()))
    near, far = predict(model, np.array([[1e3], [1e6]])), predict(model, np.array([[1e9]]))
    assert isinstance(near, RealPrediction)
    assert isinstance(far, RealPrediction)
    np.testing.assert_array_equal(near.mean, far.mean[[0, 0]])


def test_no_points_are_no_predictions() -> None:
    model = fit(*sinc(20, 0), spec_for(GaussianNoise()))
    predicted = predict(model, np.empty((0, 1)))
    assert isinstance(predicted, RealPrediction)
    assert predicted.mean.shape == (0,)


@pytest.mark.parametrize("X", [np.ones((3, 2)), np.ones(3)], ids=["two inputs", "flat"])
def test_points_of_another_shape_are_refused(X: Array) -> None:
    model = fit(*sinc(20, 0), spec_for(GaussianNoise()))
    with pytest.raises(DataError, match=r"expected X \(N, 1\)"):
        predict(model, X)


def test_a_real_score_is_the_normal_log_density() -> None:
    predicted = RealPrediction(np.array([0.0, 1.0]), np.array([0.3, 0.3]), np.array([0.1, 0.7]), np.array([0.0, 0.2]))
    t = np.array([0.5, -1.0])
    expected = norm.logpdf(t, predicted.mean, np.sqrt(predicted.noise + predicted.weights + predicted.residual))
    np.testing.assert_allclose(predicted.log_density(t), np.asarray(expected), rtol=1e-12)


def test_a_class_score_is_the_log_of_the_probability_of_what_came() -> None:
    predicted = two_classes(np.array([0.8, 0.8, 0.0]))
    found = predicted.log_density(np.array([1.0, 0.0, 1.0]))
    np.testing.assert_allclose(found[:2], [log(0.8), log(0.2)], rtol=1e-12)
    assert np.isfinite(found[2])
    assert found[2] < -700.0


def test_figures_of_real_predictions_are_what_they_are_called() -> None:
    predicted = RealPrediction(np.array([0.0, 1.0, 2.0, 3.0]), np.full(4, 1.0), np.zeros(4), np.zeros(4))
    found = scores(predicted, np.array([1.0, 1.0, 2.0, 7.0]))
    assert found["rmse"] == pytest.approx((17.0 / 4.0) ** 0.5)
    assert found["mae"] == pytest.approx(5.0 / 4.0)
    assert found["r2"] == pytest.approx(1.0 - 17.0 / 24.75)
    assert found["nll"] == pytest.approx(0.5 * log(2.0 * pi) + 17.0 / 8.0)
    assert found["coverage_95"] == 0.75


def test_figures_of_class_predictions_are_what_they_are_called() -> None:
    predicted = two_classes(np.array([0.9, 0.4, 0.3]))
    found = scores(predicted, np.array([1.0, 1.0, 0.0]))
    assert found["error"] == pytest.approx(1.0 / 3.0)
    assert found["log_loss"] == pytest.approx(-(log(0.9) + log(0.4) + log(0.7)) / 3.0)
    assert found["brier"] == pytest.approx((0.01 + 0.36 + 0.09) / 3.0)


def test_the_explained_share_of_a_constant_is_zero() -> None:
    predicted = RealPrediction(np.zeros(2), np.ones(2), np.ones(2), np.zeros(2))
    assert scores(predicted, np.ones(2))["r2"] == 0.0


def vectors_of(model: Model) -> KernelFunctions:
    (functions,) = [member for member in model.functions if isinstance(member, KernelFunctions)]
    return functions


PROCESSES: dict[str, tuple[Likelihood, Spec]] = {
    "free": (GaussianNoise(), process_spec(GaussianNoise())),
    "warped, inputs": (GaussianNoise(), process_spec(GaussianNoise(), warp="evidence", inputs=True)),
    "fixed": (GaussianNoise(), process_spec(GaussianNoise(), width=WIDTHS["fixed"])),
    "classes": (Bernoulli(), process_spec(Bernoulli(), width=FixedWidth(0.5), inputs=True, min_gain=1.0)),
}


@cache
def process(name: str) -> Model:
    likelihood, spec = PROCESSES[name]
    return fit(*rows_for(likelihood, 24, 0), spec)


def new_points(model: Model) -> Array:
    return np.random.default_rng(1).normal(0.0, 4.0, (25, model.inputs))


@pytest.mark.parametrize("name", PROCESSES)
def test_beyond_the_functions_is_what_the_vectors_leave_of_the_process(name: str) -> None:
    model = process(name)
    X, functions = new_points(model), vectors_of(model)
    every = np.arange(functions.size)
    e, E_mm = functions(X, every), functions(functions.centres, every) + JITTER * np.eye(functions.size)
    assert model.signal_variance is not None
    by_definition = model.signal_variance * (1.0 - np.einsum("nm,mn->n", e, np.linalg.solve(E_mm, e.T)))
    residual_variance = latent(model, X).residual
    np.testing.assert_allclose(residual_variance, by_definition, rtol=1e-7, atol=1e-9 * model.signal_variance)


@pytest.mark.parametrize("name", PROCESSES)
def test_at_a_vector_nothing_is_beyond_and_far_away_the_whole_process(name: str) -> None:
    model = process(name)
    assert model.signal_variance is not None
    at_vectors = latent(model, vectors_of(model).centres).residual
    assert at_vectors.max() <= 1.01 * JITTER * model.signal_variance
    assert at_vectors.min() >= 0.0
    far = latent(model, np.full((1, model.inputs), 1e6)).residual
    assert far[0] == pytest.approx(model.signal_variance)


@pytest.mark.parametrize("name", PROCESSES)
def test_the_support_is_the_share_of_the_process_that_the_vectors_explain(name: str) -> None:
    model = process(name)
    X = np.vstack([new_points(model), vectors_of(model).centres, np.full((1, model.inputs), 1e6)])
    found = latent(model, X)
    assert model.signal_variance is not None
    assert found.support is not None
    np.testing.assert_allclose(found.support, 1.0 - found.residual / model.signal_variance, atol=1e-12)
    assert found.support[25:-1].min() > 1.0 - 2.0 * JITTER
    assert found.support[-1] == 0.0


def test_a_process_without_vectors_knows_no_support() -> None:
    X = np.linspace(-1.0, 1.0, 40)[:, None]
    t = 3.0 * X[:, 0] + 0.1 * np.random.default_rng(0).standard_normal(40)
    model = fit(X, t, process_spec(GaussianNoise(), inputs=True))
    assert vectors_of(model).size == 0
    assert model.signal_variance is not None
    found = latent(model, X)
    assert found.support is None
    np.testing.assert_allclose(found.residual, model.signal_variance)


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_a_model_ready_predicts_as_the_model_does(name: str) -> None:
    likelihood = LIKELIHOODS[name]
    X, t = rows_for(likelihood, 40, 0)
    model = fit(X, t, spec_for(likelihood))
    predicted, support = Ready.of(model).predict(X)
    np.testing.assert_array_equal(predicted.log_density(t), predict(model, X).log_density(t))
    assert support is None or ((support >= 0.0) & (support <= 1.0)).all()


@pytest.mark.parametrize("name", PROCESSES)
def test_the_whole_variance_is_the_sum_of_parts_none_of_which_is_negative(name: str) -> None:
    model = process(name)
    X = new_points(model)
    mean, weights, residual_variance = parts(latent(model, X))
    predicted = predict(model, X)
    assert min(weights.min(), residual_variance.min()) >= 0.0
    if isinstance(predicted, ClassPrediction):
        np.testing.assert_array_equal(predicted.latent_mean, mean)
        np.testing.assert_allclose(predicted.latent_variance, weights + residual_variance)
        return
    for part in (predicted.noise, predicted.weights, predicted.residual):
        assert (predicted.variance >= part).all()
    np.testing.assert_array_equal(predicted.residual, residual_variance)
    np.testing.assert_allclose(predicted.variance, predicted.noise + weights + residual_variance)


def test_beyond_the_functions_of_independent_precisions_there_is_nothing() -> None:
    model = fit(*sinc(40, 0), spec_for(GaussianNoise()))
    found = latent(replace(model, augmentation=None), NEW)
    np.testing.assert_array_equal(found.residual, 0.0)
    assert found.support is None


def test_a_process_with_a_vector_for_each_row_predicts_as_the_process_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mean k'C^-1 t and variance s - k'C^-1 k of the textbooks, at the hyperparameters learned."""
    monkeypatch.setattr(gaussian_process, "JITTER", 1e-9)
    X, t = sinc(12, 3)
    spec = process_spec(GaussianNoise(0.1), width=FixedWidth(1.0), vectors="rows", min_gain=1e-9)
    model = fit(X, t, replace(spec, basis=spec.basis[:1]))
    functions = vectors_of(model)
    assert functions.size == 12
    assert model.signal_variance is not None
    K = model.signal_variance * functions(X[functions.rows], np.arange(12))
    C = K + 0.01 * np.eye(12)
    k = model.signal_variance * functions(NEW, np.arange(12))
    mean, weights, residual_variance = parts(latent(model, NEW))
    np.testing.assert_allclose(mean, k @ np.linalg.solve(C, t[functions.rows]), atol=1e-5)
    textbook = model.signal_variance - np.einsum("nm,mn->n", k, np.linalg.solve(C, k.T))
    np.testing.assert_allclose(weights + residual_variance, textbook, atol=1e-5)


@pytest.mark.parametrize("name", ["warped, inputs", "classes"])
def test_a_process_predicted_in_chunks_is_predicted_alike(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = process(name)
    X = new_points(model)
    complete = parts(latent(model, X))
    monkeypatch.setattr(module, "BLOCK_BYTES", 8 * len(model.mean) * 7)
    monkeypatch.setattr(module, "MIN_ROWS", 1)
    for one, other in zip(parts(latent(model, X)), complete, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ["warped, inputs", "classes"])
def test_of_many_points_only_the_result_is_kept(name: str) -> None:
    model = process(name)
    X = np.tile(new_points(model), (2_000, 1))
    ready = Ready.of(model)
    found, peaks = [], []
    for rows in (len(X) // 2, len(X)):
        tracemalloc.start()
        found.append(ready.latent(X[:rows]))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    half, complete = (sum(array.nbytes for array in parts(latents)) for latents in found)
    assert peaks[1] - peaks[0] < 3 * (complete - half)
