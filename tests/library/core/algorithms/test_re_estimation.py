from dataclasses import replace
from itertools import islice, pairwise
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relevance_bayes.core.algorithms import ReEstimation, re_estimation
from relevance_bayes.core.algorithms.state import Termination, rebuild
from relevance_bayes.core.basis import Inputs, KernelBasis
from relevance_bayes.core.kernels.hyperparameters import FixedWidth
from relevance_bayes.core.likelihoods import GaussianNoise, Likelihood
from relevance_bayes.core.models import fitting
from relevance_bayes.core.models.fitting import iterate, iterates, pose
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.priors import Independent
from relevance_bayes.core.types import Array
from tests.library.core.drawn import LIKELIHOODS, by_differences, log_marginal, rows_for, sinc, spec_for
from tests.properties import examples

Update = Literal["mackay", "em"]
UPDATES: tuple[Update, Update] = ("mackay", "em")


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_it_starts_with_everything_in(name: str) -> None:
    likelihood = LIKELIHOODS[name]
    spec = spec_for(likelihood, algorithm=ReEstimation())
    first = next(iterate(pose(*rows_for(likelihood, 20, 0), spec), spec))
    assert first.active == tuple(range(21))


HYPERPRIORS: dict[str, Independent] = {
    "flat": Independent(),
    "broad": Independent(a=1e-6, b=1e-6, c=1e-6, d=1e-6),
    "of alpha": Independent(a=0.5, b=0.2),
    "of beta": Independent(c=3.0, d=0.5),
    "of both": Independent(a=0.5, b=0.2, c=3.0, d=0.5),
    "rates alone": Independent(b=0.1, d=0.1),
}

each_hyperprior = pytest.mark.parametrize("prior", HYPERPRIORS.values(), ids=HYPERPRIORS)
each_update = pytest.mark.parametrize("update", UPDATES)


def under(prior: Independent, likelihood: Likelihood, update: Update) -> Spec:
    return replace(spec_for(likelihood, algorithm=ReEstimation(update)), prior=prior)


def by_the_papers(
    update: Update, alpha: Array, beta: float, P: Array, t: Array, prior: Independent
) -> tuple[Array, float]:
    """One update, written out from TIPPING1999 eqs 8 to 10 and THEORY 2."""
    a, b, c, d = prior.a, prior.b, prior.c, prior.d
    Sigma = np.linalg.solve(np.diag(alpha) + beta * P.T @ P, np.eye(len(alpha)))
    mu = beta * Sigma @ P.T @ t
    gamma = 1.0 - alpha * Sigma.diagonal()
    quadratic_form = float(np.sum((t - P @ mu) ** 2))
    if update == "mackay":
        return (gamma + 2.0 * a) / (mu**2 + 2.0 * b), (len(t) - float(gamma.sum()) + 2.0 * c) / (
            quadratic_form + 2.0 * d
        )
    noise = quadratic_form + float(gamma.sum()) / beta + 2.0 * d
    return (1.0 + 2.0 * a) / (mu**2 + Sigma.diagonal() + 2.0 * b), (len(t) + 2.0 * c) / noise


@each_hyperprior
@each_update
def test_a_step_is_the_papers_update(update: Update, prior: Independent) -> None:
    spec = under(prior, GaussianNoise(), update)
    problem = pose(*sinc(12, 0), spec)
    walk = iterates(problem, spec)
    first, second = next(walk), next(walk)
    P = problem.columns(first.state.active)
    alpha, beta = by_the_papers(update, first.state.alpha, first.state.beta, P, problem.t, prior)
    kept = [first.state.active.index(number) for number in second.state.active]
    # A step is halved in the logarithms while it lowers L, and cut where it is longer than exp(10).
    full = np.append(np.clip(np.log(alpha / first.state.alpha), -10.0, 10.0)[kept], np.log(beta / first.state.beta))
    made = np.append(np.log(second.state.alpha / first.state.alpha[kept]), np.log(second.state.beta / first.state.beta))
    share = float(made @ full) / float(full @ full)
    np.testing.assert_allclose(made, share * full, rtol=1e-6, atol=1e-9)
    assert np.log2(share) == pytest.approx(round(float(np.log2(share))), abs=1e-6)
    assert update == "mackay" or share == pytest.approx(1.0)


@pytest.mark.parametrize("update", UPDATES)
def test_uninformative_functions_are_pruned(update: Update) -> None:
    spec = spec_for(GaussianNoise(), algorithm=ReEstimation(update))
    *_, last = iterate(pose(*sinc(40, 0), spec), spec)
    assert len(last.active) <= 12


def test_not_converging_is_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(re_estimation, "MAX_ITERATIONS", 2)
    spec = spec_for(GaussianNoise(), algorithm=ReEstimation())
    *_, last = iterate(pose(*sinc(30, 0), spec), spec)
    assert last.termination == Termination.MAX_ITERATIONS
    assert last.iteration == 2


def learned_under(prior: Independent, likelihood: Likelihood) -> Independent:
    """Without what nothing learns."""
    return prior if likelihood == GaussianNoise() else replace(prior, c=0.0, d=0.0)


CASES = {
    f"{hyperprior}-{name}": (name, prior)
    for hyperprior, prior in HYPERPRIORS.items()
    for name, likelihood in LIKELIHOODS.items()
    if likelihood == GaussianNoise() or hyperprior not in {"of beta", "of both"}
}
"""Where no precision of the noise is learned, these two are "flat" and "of alpha"."""


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "prior"), CASES.values(), ids=CASES)
@each_update
@settings(max_examples=examples(2), deadline=None)
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(8, 24))
def test_the_objective_never_falls_under_hyperpriors(
    name: str, prior: Independent, update: Update, seed: int, rows: int
) -> None:
    likelihood = LIKELIHOODS[name]
    prior = learned_under(prior, likelihood)
    spec = under(prior, likelihood, update)
    problem = pose(*rows_for(likelihood, rows, seed), spec)
    states = list(islice(iterate(problem, spec), 40))
    for before, after in pairwise(states):
        assert after.objective >= before.objective - 1e-9 * (1.0 + abs(before.objective))
    last = states[-1]
    full = rebuild(problem, last).evidence.value + prior.log_hyperprior(last.alpha, last.beta)
    assert last.objective == pytest.approx(full, rel=1e-8)


@pytest.mark.parametrize("name", ["of alpha", "of both"])
@each_update
def test_at_rest_the_objective_is_stationary(update: Update, name: str) -> None:
    """By differences of L by its definition and of the Gamma densities."""
    prior = HYPERPRIORS[name]
    spec = under(prior, GaussianNoise(), update)
    problem = pose(*sinc(30, 1), spec)
    *_, last = iterate(problem, spec)
    assert last.termination == Termination.CONVERGED
    P = problem.columns(last.active)

    def objective(logarithms: Array) -> float:
        alpha, beta = np.exp(logarithms[:-1]), float(np.exp(logarithms[-1]))
        return log_marginal(P, alpha, beta, problem.t) + prior.log_hyperprior(alpha, beta)

    at = np.append(np.log(last.alpha), np.log(last.beta))
    assert last.objective == pytest.approx(objective(at), rel=1e-8)
    np.testing.assert_allclose(by_differences(objective, at, step=1e-4), 0.0, atol=2e-3)


def test_a_rate_keeps_precisions_finite() -> None:
    prior = Independent(a=0.5, b=0.2)
    spec = under(prior, GaussianNoise(), "mackay")
    problem = pose(*sinc(30, 1), spec)
    *_, last = iterate(problem, spec)
    assert last.alpha.max() <= (1.0 + 2.0 * prior.a) / (2.0 * prior.b)


@each_update
def test_a_resumed_fit_under_hyperpriors_is_the_unbroken_one(update: Update, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "REBUILT_EVERY", 2)
    spec = under(HYPERPRIORS["of both"], GaussianNoise(), update)
    problem = pose(*sinc(24, 4), spec)
    states = list(iterate(problem, spec))
    *_, resumed = iterate(replace(problem), spec, states[4])
    assert (resumed.active, resumed.iteration) == (states[-1].active, states[-1].iteration)
    assert resumed.objective == states[-1].objective


@pytest.mark.parametrize("name", LIKELIHOODS)
@each_update
def test_a_column_of_zeros_leaves_at_once(name: str, update: Update) -> None:
    likelihood = LIKELIHOODS[name]
    X, t = rows_for(likelihood, 20, 0)
    spec = Spec(likelihood, (Inputs(),), algorithm=ReEstimation(update))
    X = np.column_stack([X, np.zeros(len(X))])
    states = list(islice(iterate(pose(X, t, spec), spec), 3))
    assert X.shape[1] - 1 in states[0].active
    assert X.shape[1] - 1 not in states[-1].active


@pytest.mark.parametrize("width", [4.0, 16.0, 64.0])
def test_functions_of_a_wide_kernel_are_not_all_pruned(width: float) -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(-1.0, 1.0, (40, 1))
    t = 2.0 * X[:, 0] + 0.1 * rng.standard_normal(40)
    spec = Spec(GaussianNoise(), (KernelBasis(width=FixedWidth(width)),), algorithm=ReEstimation())
    *_, last = iterate(pose(X, t, spec), spec)
    assert len(last.active) >= 2
    assert last.beta**-0.5 == pytest.approx(0.1, rel=0.5)  # with nothing in it is 1.2
