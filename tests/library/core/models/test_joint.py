"""Predictions together: their variances are those of each alone, their sums those of functions drawn."""

from dataclasses import replace

import numpy as np
import pytest

from relevance_bayes.core import priors as gaussian_process
from relevance_bayes.core.basis import evaluate
from relevance_bayes.core.errors import DataError
from relevance_bayes.core.inference.posterior import Augmentation
from relevance_bayes.core.kernels.hyperparameters import FixedWidth
from relevance_bayes.core.likelihoods import Bernoulli, GaussianNoise, Likelihood, LogGaussian, Poisson, StudentT
from relevance_bayes.core.models.effects import joint
from relevance_bayes.core.models.fitting import fit, pose
from relevance_bayes.core.models.model import KernelFunctions, Model, Spec
from relevance_bayes.core.models.prediction import Ready, RealPrediction, predict
from relevance_bayes.core.types import Array
from tests.library.core.drawn import process_spec, rows_for, sinc, spec_for

NEW = np.linspace(-14.0, 14.0, 41)[:, None]
SPECS: dict[str, Spec] = {
    "independent": spec_for(GaussianNoise()),
    "process": process_spec(GaussianNoise(), warp="evidence", inputs=True),
    "on rows": process_spec(GaussianNoise(0.1), width=FixedWidth(2.0), vectors="rows"),
}


def fitted(name: str, *, augmented: bool = True) -> Model:
    X, t = sinc(40, 0)
    model = fit(X, t, SPECS[name])
    if name != "independent":
        return model
    kept = Augmentation.of(pose(X, t, SPECS[name]), model.functions)
    return replace(model, augmentation=kept if augmented else None)


def of(model: Model, X: Array) -> tuple[RealPrediction, Array]:
    mean, covariance = joint(Ready.of(model), X)
    prediction = predict(model, X)
    assert isinstance(prediction, RealPrediction)
    np.testing.assert_array_equal(mean, prediction.mean)
    return prediction, covariance


@pytest.mark.parametrize("augmented", [True, False], ids=["augmented", "plain"])
@pytest.mark.parametrize("name", SPECS)
def test_the_diagonal_is_the_variance_of_each_alone(name: str, augmented: bool) -> None:
    prediction, covariance = of(fitted(name, augmented=augmented), NEW)
    np.testing.assert_allclose(covariance.diagonal(), prediction.variance, rtol=1e-12)
    np.testing.assert_array_equal(covariance, covariance.T)


@pytest.mark.parametrize("name", SPECS)
def test_no_sum_of_responses_has_a_negative_variance(name: str) -> None:
    _, covariance = of(fitted(name), NEW)
    assert np.linalg.eigvalsh(covariance).min() > 0.0


@pytest.mark.parametrize("name", SPECS)
def test_the_noise_of_two_responses_at_one_place_is_their_own(name: str) -> None:
    model = fitted(name)
    prediction, covariance = of(model, np.array([[0.3], [0.3]]))
    assert model.noise_sd is not None
    # Of the process the jitter of its kernel matrix is nobody's.
    slack = 2.0 * gaussian_process.JITTER * (model.signal_variance or 0.0)
    assert covariance[0, 1] == pytest.approx(prediction.variance[0] - model.noise_sd**2, rel=1e-9, abs=slack)


def test_of_independent_weights_two_responses_share_the_functions() -> None:
    model = fitted("independent", augmented=False)
    P = evaluate(model.functions, NEW)
    expected = P @ model.covariance @ P.T
    assert model.noise_sd is not None
    _, covariance = of(model, NEW)
    np.testing.assert_allclose(covariance - model.noise_sd**2 * np.eye(len(NEW)), expected, atol=1e-12)


def test_far_responses_of_different_places_are_independent() -> None:
    _, covariance = of(fitted("independent"), np.array([[1e3], [2e3], [1e3 + 0.1]]))
    bias_alone = covariance[0, 1]
    assert covariance[0, 2] - bias_alone > 0.5 * (covariance[0, 0] - bias_alone)
    assert bias_alone < 0.1 * covariance[0, 0]


def test_the_sum_of_responses_varies_as_that_of_functions_drawn_from_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With a vector for each row: functions drawn from the exact posterior of the textbooks, with noise on each."""
    monkeypatch.setattr(gaussian_process, "JITTER", 1e-9)
    X, t = sinc(12, 3)
    spec = process_spec(GaussianNoise(0.1), width=FixedWidth(1.0), vectors="rows", min_gain=1e-9)
    model = fit(X, t, replace(spec, basis=spec.basis[:1]))
    vectors, *_ = model.functions
    assert isinstance(vectors, KernelFunctions)
    assert vectors.size == 12
    assert model.signal_variance is not None
    everywhere = vectors.moved(vectors.input_map, np.vstack([X, NEW]), np.arange(12 + len(NEW)))
    K = model.signal_variance * everywhere(everywhere.centres, np.arange(everywhere.size))
    k, C = K[12:, :12], K[:12, :12] + 0.01 * np.eye(12)
    exact = K[12:, 12:] - k @ np.linalg.solve(C, k.T) + 0.01 * np.eye(len(NEW))
    _, covariance = of(model, NEW)
    np.testing.assert_allclose(covariance, exact, atol=1e-5)
    drawn = np.linalg.cholesky(exact) @ np.random.default_rng(0).standard_normal((len(NEW), 20_000))
    assert covariance.sum() == pytest.approx(float(drawn.sum(axis=0).var()), rel=0.03)
    assert covariance.sum() != pytest.approx(covariance.diagonal().sum(), rel=0.5)


@pytest.mark.parametrize(
    "likelihood", [Bernoulli(), Poisson(), StudentT(), LogGaussian()], ids=lambda member: member.type
)
def test_other_likelihoods_are_refused(likelihood: Likelihood) -> None:
    X, t = rows_for(likelihood, 40, 0)
    with pytest.raises(DataError, match=f"expected Gaussian noise, got {likelihood.type}"):
        joint(Ready.of(fit(X, t, spec_for(likelihood))), X)


def test_no_points_have_an_empty_covariance() -> None:
    for name in SPECS:
        mean, covariance = joint(Ready.of(fitted(name)), np.empty((0, 1)))
        assert mean.shape == (0,)
        assert covariance.shape == (0, 0)
