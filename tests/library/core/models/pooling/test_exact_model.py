"""A process as a model through all of its rows: no digit of its variance is lost where there is next to no noise."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from relevance_bayes.core.basis import ConstantFunction, KernelFunctions
from relevance_bayes.core.kernels import Gaussian, Matern32
from relevance_bayes.core.kernels.hyperparameters import InputMap
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.models.effects import joint, residual_covariance
from relevance_bayes.core.models.fitting import FitLog, pose
from relevance_bayes.core.models.model import Model
from relevance_bayes.core.models.pool import degrees_of_freedom, effective_functions, members_of, one_row, ready_of
from relevance_bayes.core.models.pooling.members import NOISE_MARGIN, Whole, exact_model, whole, with_noise
from relevance_bayes.core.models.prediction import Ready, RealPrediction, leave_one_out, scores
from relevance_bayes.core.priors import Whitening
from relevance_bayes.core.selection import FitContext, Rows, Selection, Trained, train
from relevance_bayes.core.types import Array
from tests.library.core.drawn import process_spec

N, NEW = 60, 200
SMOOTH = process_spec(GaussianNoise(), inputs=True, vectors="rows")
ROUGH = process_spec(GaussianNoise(), inputs=True, vectors="rows", kernel=Matern32())


@cache
def drawn(noise_sd: float) -> tuple[Array, Array]:
    """A quadratic form of four inputs."""
    rng = np.random.default_rng(0)
    X, W = rng.standard_normal((N + NEW, 4)), rng.standard_normal((4, 4))
    t = np.sum((X @ W) * X, axis=1)
    return X, (t - t.mean()) / t.std() + noise_sd * rng.standard_normal(len(X))


@cache
def member(noise_sd: float) -> Whole:
    X, t = drawn(noise_sd)
    *_, found = whole(pose(X[:N], t[:N], SMOOTH), SMOOTH, FitLog())
    return found


def covariance(one: Whole, X: Array, Z: Array) -> Array:
    """The covariance of the latent at X and Z: s K + F diag(1/alpha) F'."""
    h, problem = one.hyperparameters, one.problem
    F, H = (problem.candidates.columns(rows, one.state.active[: len(h.alpha)]) for rows in (X, Z))
    return h.signal_variance * h.covariance(one.task.kernel)(h.input_map(X), h.input_map(Z)) + (F / h.alpha) @ H.T


def predicted(model: Model, X: Array) -> RealPrediction:
    found, _ = Ready.of(model).predict(X)
    assert isinstance(found, RealPrediction)
    return found


@pytest.mark.parametrize(("noise_sd", "digits"), [(0.3, 1e-9), (1e-3, 0.02)])
def test_predictions_are_those_of_the_covariance_of_all_rows(noise_sd: float, digits: float) -> None:
    X, _ = drawn(noise_sd)
    model, exact = exact_model(member(noise_sd)), member(noise_sd).predict(X[N:])
    found, alone = predicted(model, X[N:]), one_row(Ready.of(model))
    assert isinstance(exact, RealPrediction)
    assert alone is not None
    sd = np.sqrt(exact.variance)
    np.testing.assert_allclose(found.mean / sd, exact.mean / sd, atol=digits)
    np.testing.assert_allclose(found.variance, exact.variance, rtol=digits)
    assert model.evidence.value == pytest.approx(member(noise_sd).evidence.value, abs=max(digits, 1e-6))
    assert model.evidence.kind == "exact"
    parts = [alone(x) for x in X[N : N + 9]]
    np.testing.assert_allclose([one.mean for one in parts] / sd[:9], exact.mean[:9] / sd[:9], atol=digits)
    variances = [one.noise + one.weights + one.residual for one in parts]
    np.testing.assert_allclose(variances, exact.variance[:9], rtol=digits)


def test_rows_vary_together_as_the_covariance_of_all_rows_has_it() -> None:
    X, _ = drawn(0.3)
    one, model = member(0.3), exact_model(member(0.3))
    noise = 1.0 / one.hyperparameters.beta
    inverse = np.linalg.inv(covariance(one, X[:N], X[:N]) + noise * np.eye(N))
    across = covariance(one, X[N:], X[:N])
    expected = covariance(one, X[N:], X[N:]) - across @ inverse @ across.T + noise * np.eye(NEW)
    mean, found = joint(Ready.of(model), X[N:])
    np.testing.assert_allclose(found, expected, atol=1e-10)
    np.testing.assert_allclose(mean, predicted(model, X[N:]).mean)
    assert effective_functions(model) == pytest.approx(N - noise * np.trace(inverse), rel=1e-9)


@pytest.mark.parametrize("noise_sd", [0.3, 0.0])
def test_each_row_is_predicted_by_all_others_as_the_covariance_of_all_rows_has_it(noise_sd: float) -> None:
    X, t = drawn(noise_sd)
    one, model = member(noise_sd), exact_model(member(noise_sd))
    h = one.hyperparameters
    inverse = np.linalg.inv(covariance(one, X[:N], X[:N]) + np.eye(N) / h.beta)
    variance = np.asarray(1.0 / inverse.diagonal(), np.float64)
    left = inverse @ (t[:N] - one.problem.centre) * variance
    none = np.zeros(N)
    expected = scores(RealPrediction(t[:N] - left, variance, none, none), t[:N])
    found = leave_one_out(model, Rows(X[:N], t[:N]), 0.0)
    assert found["nll"] == pytest.approx(expected["nll"], abs=0.01)
    assert found["rmse"] == pytest.approx(expected["rmse"], rel=0.01)


def test_a_function_without_noise_loses_nothing_through_its_rows() -> None:
    """The pool is the exact process: jitter of 1e-8 took 0.7 nats a row, and twice the error of new rows."""
    X, t = drawn(0.0)
    *_, found = train(Rows(X[:N], t[:N]), Selection(SMOOTH, pool=(ROUGH,)), on=FitContext(FitLog()))
    assert isinstance(found, Trained)
    (kept,) = found.members
    assert kept.functions == N + 1 + X.shape[1]
    assert found.score_loss == pytest.approx(0.0, abs=1e-3)
    (one,) = members_of(found.learned)
    assert one.is_exact
    prediction, _ = ready_of(found.learned).predict(X[N:])
    exact = member(0.0).predict(X[N:])
    assert isinstance(prediction, RealPrediction)
    assert isinstance(exact, RealPrediction)
    assert float(prediction.log_density(t[N:]).mean()) > float(exact.log_density(t[N:]).mean()) - 0.05
    root = Ready.of(one).root
    np.testing.assert_allclose(
        (1.0 - one.gamma) / one.alpha, np.square(root).sum(axis=1), rtol=1e-6, atol=1e-6 / one.alpha.min()
    )


@pytest.mark.parametrize("share", [1e-14, 1e-12])
def test_the_residual_is_that_of_substitution_in_more_digits(share: float) -> None:
    rng = np.random.default_rng(0)
    centres, X = rng.uniform(-1.0, 1.0, (600, 1)), rng.uniform(-1.0, 1.0, (50, 1))
    kernel = KernelFunctions(Gaussian(), InputMap(np.ones(1)), centres, np.arange(600))
    whitening, n = with_noise(kernel.every(centres), share)
    model = replace(
        exact_model(member(0.0)),
        functions=(kernel, ConstantFunction()),
        mean=np.zeros(601),
        covariance=np.eye(1),
        inputs=1,
        rows=600,
        signal_variance=1.0,
        jitter=n,
    )
    lower, E = whitening.lower.astype(np.longdouble), kernel(X, np.arange(600)).astype(np.longdouble)
    B = np.zeros_like(E)
    for place, row in enumerate(lower):
        B[:, place] = (E[:, place] - B[:, :place] @ row[:place]) / row[place]
    left, ready = np.asarray(1.0 - np.square(B).sum(axis=1), np.float64), Ready.of(model)
    alone = one_row(ready)
    assert alone is not None
    np.testing.assert_allclose(ready.latent(X).residual, left, rtol=0.0, atol=2e-14)
    np.testing.assert_allclose([alone(x).residual for x in X], left, rtol=0.0, atol=2e-14)
    together = residual_covariance(ready, X, left).diagonal()
    np.testing.assert_allclose(together, left, rtol=0.0, atol=2e-14)


@pytest.mark.parametrize(("rows", "inputs"), [(60, 1), (300, 2)])
def test_another_machine_factorises_what_was_kept(rows: int, inputs: int) -> None:
    """Where rounding is more than a tenth of the noise, a sum in another order may have no Cholesky factor."""
    U = 0.3 * np.random.default_rng(0).uniform(-1.0, 1.0, (rows, inputs))
    K = Gaussian()(U, U)
    whitening, share = with_noise(K, 1e-14)
    assert share >= rows * np.finfo(np.float64).eps
    Whitening.of(K, jitter=share / NOISE_MARGIN)
    np.testing.assert_allclose(whitening.lower @ whitening.lower.T, K + share * np.eye(rows), rtol=0.0, atol=1e-14)


def test_rows_with_a_noise_of_their_own_have_no_common_jitter() -> None:
    X, t = drawn(0.0)
    first, second = (
        process_spec(GaussianNoise("rows"), inputs=True, vectors="rows", kernel=kernel)
        for kernel in (Gaussian(), Matern32())
    )
    rows = Rows(X[:N], t[:N], np.linspace(1e-4, 2e-4, N))
    *_, found = train(rows, Selection(first, pool=(second,)), on=FitContext(FitLog()))
    assert isinstance(found, Trained)
    assert not any(one.is_exact for one in members_of(found.learned))


def test_degrees_of_freedom_of_a_process_through_its_rows_are_nearly_their_number() -> None:
    assert degrees_of_freedom(100, 99.9) == 1.0
    assert degrees_of_freedom(100, 99.9, is_exact=True) == pytest.approx(1.0 / (0.001 + 0.999 / 99.0))
    assert degrees_of_freedom(100, 20.0, is_exact=True) == pytest.approx(1.0 / (0.8 / 79.0 + 0.2 / 99.0))
