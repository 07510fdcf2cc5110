from typing import Literal

import numpy as np
import pytest

from app.sparse_bayes.algorithms import ReEstimation, re_estimation
from app.sparse_bayes.algorithms.state import Termination
from app.sparse_bayes.fitting import iterate, pose, standings
from app.sparse_bayes.likelihoods import GaussianNoise
from app.sparse_bayes.types import Array
from tests.sparse_bayes.drawn import LIKELIHOODS, problem_for, rows_for, sinc, spec_for

Update = Literal["mackay", "em"]
UPDATES: tuple[Update, Update] = ("mackay", "em")


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_it_starts_with_everything_in(name: str) -> None:
    likelihood = LIKELIHOODS[name]
    spec = spec_for(likelihood, algorithm=ReEstimation())
    first = next(iterate(pose(*rows_for(likelihood, 20, 0), spec), spec))
    assert first.active == tuple(range(21))


def by_the_papers(update: Update, alpha: Array, beta: float, P: Array, t: Array) -> tuple[Array, float]:
    """One update, written out from TIPPING1999 eqs 8 to 10 and SCIENCE 1."""
    Sigma = np.linalg.solve(np.diag(alpha) + beta * P.T @ P, np.eye(len(alpha)))
    mu = beta * Sigma @ P.T @ t
    gamma = 1.0 - alpha * Sigma.diagonal()
    misfit = float(np.sum((t - P @ mu) ** 2))
    if update == "mackay":
        return gamma / mu**2, (len(t) - float(gamma.sum())) / misfit
    return 1.0 / (mu**2 + Sigma.diagonal()), len(t) / (misfit + float(gamma.sum()) / beta)


@pytest.mark.parametrize("update", UPDATES)
def test_a_step_is_the_papers_update(update: Update) -> None:
    spec = spec_for(GaussianNoise(), algorithm=ReEstimation(update))
    problem = problem_for(GaussianNoise(), 12)
    walk = standings(problem, spec)
    first, second = next(walk), next(walk)
    P = problem.columns(first.state.active)
    alpha, beta = by_the_papers(update, first.state.alpha, first.state.beta, P, problem.t)
    kept = [first.state.active.index(number) for number in second.state.active]
    # A step is halved in the logarithms while it lowers L, and cut where it is longer than exp(10).
    whole = np.append(np.clip(np.log(alpha / first.state.alpha), -10.0, 10.0)[kept], np.log(beta / first.state.beta))
    made = np.append(np.log(second.state.alpha / first.state.alpha[kept]), np.log(second.state.beta / first.state.beta))
    share = float(made @ whole) / float(whole @ whole)
    np.testing.assert_allclose(made, share * whole, rtol=1e-6, atol=1e-9)
    assert np.log2(share) == pytest.approx(round(float(np.log2(share))), abs=1e-6)
    assert update == "mackay" or share == pytest.approx(1.0)


@pytest.mark.parametrize("update", UPDATES)
def test_functions_that_say_nothing_are_pruned(update: Update) -> None:
    spec = spec_for(GaussianNoise(), algorithm=ReEstimation(update))
    *_, last = iterate(pose(*sinc(40, 0), spec), spec)
    assert len(last.active) <= 12


def test_not_converging_is_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(re_estimation, "MOST_ITERATIONS", 2)
    spec = spec_for(GaussianNoise(), algorithm=ReEstimation())
    *_, last = iterate(pose(*sinc(30, 0), spec), spec)
    assert last.termination == Termination.MAX_ITERATIONS
    assert last.iteration == 2
