from dataclasses import replace

import numpy as np
import pytest

from relevance_bayes.core.algorithms import sequential
from relevance_bayes.core.algorithms import sequential as inner
from relevance_bayes.core.algorithms.state import State, Termination, with_evidence
from relevance_bayes.core.basis import Bias, Candidates, KernelBasis, KernelFunctions
from relevance_bayes.core.inference.evidence import gain
from relevance_bayes.core.inference.factors import SPAN
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.kernels.hyperparameters import FixedWidth, width_range
from relevance_bayes.core.likelihoods import Bernoulli, GaussianNoise, Likelihood
from relevance_bayes.core.models.fitting import iterate, iterates, pose
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.types import Array
from tests.library.core.drawn import LIKELIHOODS, friedman, rows_for, sinc, spec_for

each_likelihood = pytest.mark.parametrize("likelihood", LIKELIHOODS.values(), ids=LIKELIHOODS)


def fitted(X: Array, t: Array, likelihood: Likelihood) -> State:
    spec = spec_for(likelihood)
    *_, last = iterate(pose(X, t, spec), spec)
    return last


@each_likelihood
def test_it_starts_from_nothing(likelihood: Likelihood) -> None:
    spec = spec_for(likelihood)
    first = next(iterate(pose(*rows_for(likelihood, 20, 0), spec), spec))
    assert first.active == ()
    assert first.termination is None


def places_of(problem: Problem, spec: Spec) -> list[tuple[float, ...]]:
    """Where the kernel functions of a fit to its end stand."""
    *_, last = iterate(problem, spec)
    functions, _ = problem.candidates.take(last.active)
    return [
        tuple(centre) for kept in functions if isinstance(kept, KernelFunctions) for centre in kept.centres.tolist()
    ]


def on_all_rows(problem: Problem) -> Problem:
    """The problem with a kernel function on every row, however many are at its place."""
    rows = np.arange(problem.rows)
    dictionaries = (
        functions.moved(functions.input_map, problem.X, rows) if isinstance(functions, KernelFunctions) else functions
        for functions in problem.candidates.dictionaries
    )
    return replace(problem, candidates=Candidates(tuple(dictionaries)))


@each_likelihood
@pytest.mark.parametrize("offered", ["by place", "by row"])
def test_a_duplicate_input_is_not_taken_twice(likelihood: Likelihood, offered: str) -> None:
    X, t = rows_for(likelihood, 30, 0)
    spec = spec_for(likelihood)
    problem = pose(np.vstack([X, X]), np.concatenate([t, t]), spec)
    selected = places_of(on_all_rows(problem) if offered == "by row" else problem, spec)
    assert selected
    assert len(set(selected)) == len(selected)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("offered", ["by place", "by row"])
def test_of_rows_at_one_place_only_one_carries_a_function(seed: int, offered: str) -> None:
    X, t = sinc(30, seed)
    X, spec = np.round(X), spec_for(GaussianNoise())
    problem = pose(X, t, spec)
    selected = places_of(on_all_rows(problem) if offered == "by row" else problem, spec)
    assert len(selected) > 1
    assert len(set(selected)) == len(selected)


def test_each_place_is_offered_once() -> None:
    X, t = sinc(30, 4)
    X = np.round(X)
    offered, _ = pose(X, t, spec_for(GaussianNoise())).candidates.dictionaries
    assert isinstance(offered, KernelFunctions)
    assert set(np.signbit(X[X == 0.0])) == {False, True}
    assert sorted(offered.centres[:, 0]) == sorted(set(X[:, 0].tolist()))
    np.testing.assert_array_equal(offered.centres, X[offered.rows])


@pytest.mark.parametrize("seed", range(3))
def test_at_the_end_no_function_outside_gains(seed: int) -> None:
    spec = spec_for(GaussianNoise())
    problem = pose(*sinc(40, seed), spec)
    *_, end = iterates(problem, spec)
    last = with_evidence(problem, end)
    seen = last.factors.candidate_statistics(last.evidence.posterior, last.evidence.beta)
    gains = gain(seen.S, seen.Q)
    gains[list(last.state.active)] = 0.0
    copies = seen.S <= SPAN * seen.alone
    assert gains[~copies].max() < inner.MIN_GAIN
    assert last.state.is_maximum


@pytest.mark.parametrize("seed", range(3))
def test_few_functions_of_a_noisy_sinc_are_kept(seed: int) -> None:
    X, t = sinc(100, seed)
    state = fitted(X, t, GaussianNoise())
    assert 3 <= len(state.active) <= 10
    assert state.beta**-0.5 == pytest.approx(0.1, rel=0.25)


def test_not_converging_is_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sequential.MAX_STEPS_PER_ROW, "inner", 0)
    assert fitted(*sinc(30, 0), GaussianNoise()).termination == Termination.MAX_ITERATIONS


def test_many_that_gain_only_together_are_found_where_many_are_in(monkeypatch: pytest.MonkeyPatch) -> None:
    X, t, _ = friedman(240, 2)
    _, largest = width_range(X)
    spec = Spec(GaussianNoise(), (KernelBasis(width=FixedWidth(0.4 * largest)), Bias()))
    *_, together = iterate(pose(X, t, spec), spec)
    monkeypatch.setattr(sequential, "MIN_TOTAL_GAIN", np.inf)
    *_, alone = iterate(pose(X, t, spec), spec)
    assert inner.MAX_ACTIVE < len(alone.active) < len(together.active)
    assert together.objective > alone.objective + 30.0


@pytest.mark.parametrize("likelihood", [GaussianNoise(), Bernoulli()], ids=lambda member: member.type)
def test_functions_that_gain_only_together_are_found(likelihood: Likelihood) -> None:
    rng = np.random.default_rng(3)
    X = rng.uniform(-1.0, 1.0, (200, 1))
    f = 2.0 * X[:, 0]
    t = (f + 0.1 * rng.standard_normal(200)) if isinstance(likelihood, GaussianNoise) else (X[:, 0] > 0).astype(float)
    t = t - t.mean() if isinstance(likelihood, GaussianNoise) else t
    spec = Spec(likelihood, (KernelBasis(width=FixedWidth(8.0)),))
    *_, last = iterate(pose(X, t, spec), spec)
    beta, _ = likelihood.start(t)
    alone = likelihood.log_density(t, np.zeros(200), beta).sum()
    assert len(last.active) >= 2
    assert last.objective > alone + 50.0
