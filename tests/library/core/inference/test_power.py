"""Power EP: what it is at both ends, and its gradient between them."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from relevance_bayes.core.algorithms import task as tasks
from relevance_bayes.core.errors import IllegalCombinationError
from relevance_bayes.core.inference import process as process_sums
from relevance_bayes.core.inference.process import Bound, ProcessRows, Vectors, bound, bound_gradient
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.kernels.hyperparameters import FixedWidth, Hyperparameters, InputMap
from relevance_bayes.core.likelihoods import (
    Bernoulli,
    GaussianNoise,
    Likelihood,
    LogGaussian,
    OneAgainstRest,
    Poisson,
    StudentT,
)
from relevance_bayes.core.models.fitting import fit, iterate, pose
from relevance_bayes.core.models.model import Model, Spec, check
from relevance_bayes.core.models.prediction import latent, leave_one_out, predict
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.rows import Rows
from relevance_bayes.core.types import Array
from tests.library.core.drawn import by_differences, process_spec, rows_for, sinc

N, M = 25, 4
PLACES = np.array([1, 4, 12, 20])
RHOS = [0.05, 0.3, 0.7, 1.0]


def drawn(*, by_row: bool) -> tuple[ProcessRows, Vectors, Hyperparameters]:
    """Rows of two inputs, vectors that left theirs, and hyperparameters with warps."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(N, 2))
    warp = np.array([0.2, -0.1]), np.array([0.1, -0.3])
    h = Hyperparameters(3.0, 1.4, np.array([0.7, 2.0]), InputMap(np.array([0.9, 1.7]), *warp))
    F = np.column_stack([np.ones(N), X[:, 0]])
    precisions = np.exp(rng.normal(0.0, 1.5, N)) if by_row else None
    return ProcessRows(X, rng.normal(size=N), F, precisions), Vectors(PLACES, X[PLACES], X[PLACES] + 0.3), h


def found_at(rho: float, *, by_row: bool) -> Bound:
    rows, vectors, h = drawn(by_row=by_row)
    return bound(rows, vectors, Gaussian(), GaussianNoise(), h, rho)


def explained(found: Bound, h: Hyperparameters) -> tuple[Array, Array]:
    """Q (N, N), the covariance that the columns have, and c (N,)."""
    alpha = np.append(h.alpha, np.full(M, 1.0 / h.signal_variance))
    return (found.columns.array() / alpha) @ found.columns.array().T, h.signal_variance * found.left


@pytest.mark.parametrize("by_row", [False, True])
def test_without_a_share_it_is_the_variational_bound(*, by_row: bool) -> None:
    rows, vectors, h = drawn(by_row=by_row)
    here, there = (found_at(rho, by_row=by_row) for rho in (0.0, 1e-10))
    assert there.value == pytest.approx(here.value, abs=1e-6)
    np.testing.assert_allclose(there.optimum.posterior.mean, here.optimum.posterior.mean, atol=1e-6)
    slopes = [bound_gradient(rows, vectors, Gaussian(), h, found) for found in (here, there)]
    np.testing.assert_allclose(slopes[1][0], slopes[0][0], atol=1e-5)


@pytest.mark.parametrize("by_row", [False, True])
def test_as_a_whole_it_is_fitc(*, by_row: bool) -> None:
    rows, _, h = drawn(by_row=by_row)
    found = found_at(1.0, by_row=by_row)
    Q, c = explained(found, h)
    C = Q + np.diag(c + 1.0 / rows.precision(h.beta))
    assert found.value == pytest.approx(float(multivariate_normal.logpdf(rows.t, np.zeros(N), C)), rel=1e-10)


@pytest.mark.parametrize("rho", RHOS)
def test_in_between_a_share_is_noise_and_the_rest_is_paid_for(rho: float) -> None:
    rows, _, h = drawn(by_row=True)
    found, beta = found_at(rho, by_row=True), rows.precision(h.beta)
    Q, c = explained(found, h)
    density = float(multivariate_normal.logpdf(rows.t, np.zeros(N), Q + np.diag(rho * c + 1.0 / beta)))
    paid = (1.0 - rho) / (2.0 * rho) * float(np.sum(np.log(1.0 + rho * beta * c)))
    assert found.value == pytest.approx(density - paid, rel=1e-10)


@pytest.mark.parametrize("by_row", [False, True])
@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("likelihood", [GaussianNoise(), LogGaussian()])
def test_its_gradient_is_that_of_differences(likelihood: Likelihood, rho: float, *, by_row: bool) -> None:
    rows, vectors, h = drawn(by_row=by_row)
    assert vectors.moved is not None
    theta, places = bound_gradient(rows, vectors, Gaussian(), h, bound(rows, vectors, Gaussian(), likelihood, h, rho))
    assert places is not None
    n = len(theta)

    def value(joined: Array) -> float:
        there = replace(vectors, moved=joined[n:].reshape(M, 2))
        return bound(rows, there, Gaussian(), likelihood, h.unpacked(joined[:n]), rho).value

    slopes = by_differences(value, np.append(h.packed(), vectors.moved))
    np.testing.assert_allclose(np.append(theta, places), slopes, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("rho", RHOS)
def test_several_latents_of_a_row_are_each_as_alone(rho: float) -> None:
    rows, vectors, h = drawn(by_row=True)
    three = replace(rows, t=np.random.default_rng(2).normal(size=(N, 3)))
    together = bound(three, vectors, Gaussian(), OneAgainstRest(3), h, rho)
    each = [replace(rows, t=three.t[:, k]) for k in range(3)]
    alone = [bound(one, vectors, Gaussian(), GaussianNoise(), h, rho) for one in each]
    assert together.value == pytest.approx(sum(one.value for one in alone), rel=1e-12)
    slopes = [bound_gradient(one, vectors, Gaussian(), h, found)[0] for one, found in zip(each, alone, strict=True)]
    theta, _ = bound_gradient(three, vectors, Gaussian(), h, together)
    np.testing.assert_allclose(theta, np.sum(slopes, axis=0), rtol=1e-9, atol=1e-10)


def spec_of(rho: float, likelihood: Likelihood = GaussianNoise(), *, max_functions: int | None = None) -> Spec:  # noqa: B008
    spec = process_spec(likelihood, warp="none", max_functions=max_functions)
    assert isinstance(spec.prior, GaussianProcess)
    return replace(spec, prior=replace(spec.prior, rho=rho))


@pytest.mark.parametrize("rho", [0.3, 1.0])
@pytest.mark.parametrize("by_row", [False, True])
def test_sums_over_rows_know_its_value_and_its_posterior(rho: float, *, by_row: bool) -> None:
    X, t = sinc(40, 3)
    sd = np.random.default_rng(1).uniform(0.05, 0.5, 40)
    likelihood = GaussianNoise("rows") if by_row else GaussianNoise()
    problem = pose(X, t, spec_of(rho, likelihood), noise_sd=sd if by_row else None)
    h = Hyperparameters(2.0, 1.4, np.array([0.7]), InputMap(np.array([1.0])))
    vectors = Vectors(np.array([3, 17, 29]), X[[3, 17, 29]])
    rows = ProcessRows(X, problem.t, np.ones((40, 1)), problem.precisions)
    found = bound(rows, vectors, Gaussian(), likelihood, h, rho)
    reached = process_sums.row_sums(problem, (40,), vectors, Gaussian(), h, np.full(4, 0.2), rho).at(h)
    assert reached.value == pytest.approx(found.value, rel=1e-10)
    np.testing.assert_allclose(reached.posterior.mean, found.optimum.posterior.mean, rtol=1e-7)
    np.testing.assert_allclose(reached.posterior.covariance, found.optimum.posterior.covariance, rtol=1e-8, atol=1e-12)


def test_the_model_kept_is_that_of_its_precisions() -> None:
    X, t = sinc(60, 3)
    t -= t.mean()
    few, none = (fit(X, t, spec_of(rho, max_functions=4)) for rho in (0.5, 0.0))
    assert few.noise_sd is not None
    assert none.noise_sd is not None
    assert few.noise_sd < none.noise_sd  # what four functions leave is not all noise of the targets
    P = np.hstack([functions(X, np.arange(functions.size)) for functions in few.functions])
    lam = 1.0 / (few.noise_sd**2 + 0.5 * latent(few, X).residual)
    np.testing.assert_allclose(few.mean, few.covariance @ (P.T @ (lam * t)), rtol=1e-4, atol=1e-4)


def test_the_objective_never_falls_within_a_phase() -> None:
    spec = spec_of(0.5, GaussianNoise(), max_functions=6)
    X, t = sinc(60, 5)
    states = list(iterate(pose(X, t, spec), spec))
    by_phase: dict[str, list[float]] = {}
    for before, state in pairwise(states):
        assert before.process is not None
        by_phase.setdefault(before.process.phase, []).append(state.objective)
    assert {"scales", "functions", "noise", "vectors", "together", "rows"} <= set(by_phase)
    assert by_phase["together"][-1] >= by_phase["vectors"][-1] >= by_phase["noise"][-1]


def test_leave_one_out_counts_what_is_left_out_as_noise_of_each_row() -> None:
    X, t = sinc(30, 8)
    t -= t.mean()
    model: Model = fit(X, t, spec_of(0.6, max_functions=4))
    assert model.noise_sd is not None
    found = leave_one_out(model, Rows(X, t), 0.6)
    P = np.hstack([functions(X, np.arange(functions.size)) for functions in model.functions])
    residual_variance = latent(model, X).residual
    lam = 1.0 / (model.noise_sd**2 + 0.6 * residual_variance)
    precision = np.linalg.inv(model.covariance)
    missed, densities = [], []
    for n in range(30):
        others = np.arange(30) != n
        Sigma = np.linalg.inv(precision - lam[n] * np.outer(P[n], P[n]))
        missed.append(t[n] - float(P[n] @ Sigma @ (P[others].T @ (lam[others] * t[others]))))
        variance = model.noise_sd**2 + float(P[n] @ Sigma @ P[n]) + residual_variance[n]
        densities.append(0.5 * (np.log(2.0 * np.pi * variance) + missed[-1] ** 2 / variance))
    assert found["rmse"] == pytest.approx(np.mean(np.square(missed)) ** 0.5, rel=1e-3)
    assert found["nll"] == pytest.approx(np.mean(densities), rel=1e-3)


def test_many_rows_are_learned_from_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "MIN_ROWS_TOGETHER", 60)
    monkeypatch.setattr(tasks, "ROWS_PER_FUNCTION", 0)
    X, t = sinc(400, 3)
    places = np.linspace(-9.0, 9.0, 50)[:, None]
    found = latent(fit(X, t, spec_of(0.5)), places)
    np.testing.assert_allclose(found.mean, np.sinc(places[:, 0] / np.pi), atol=0.1)


@pytest.mark.parametrize("likelihood", [Bernoulli(), StudentT(), Poisson()])
def test_it_is_for_gaussian_noise_alone(likelihood: Likelihood) -> None:
    with pytest.raises(IllegalCombinationError, match="rho") as caught:
        check(spec_of(0.3, likelihood))
    assert caught.value.field == "prior"
    check(spec_of(0.0, likelihood))


@pytest.mark.parametrize("likelihood", [GaussianNoise(), GaussianNoise(0.1), LogGaussian()])
def test_noise_may_be_learned_or_known(likelihood: Likelihood) -> None:
    X, t = rows_for(likelihood, 40, 2)
    spec = replace(spec_of(0.4, likelihood), basis=process_spec(likelihood, width=FixedWidth(3.0)).basis)
    assert np.isfinite(predict(fit(X, t, spec), X).log_density(t)).all()
