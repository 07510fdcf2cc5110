"""Properties of every algorithm, on every likelihood and kernel."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from relevance_bayes.core.algorithms import Algorithm, ReEstimation, Sequential, re_estimation
from relevance_bayes.core.algorithms.state import State, Termination, rebuild
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.kernels import Gaussian, Kernel, LinearSpline
from relevance_bayes.core.likelihoods import GaussianNoise, Likelihood
from relevance_bayes.core.models import fitting
from relevance_bayes.core.models.fitting import iterate, pose
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.types import Array
from tests.library.core.drawn import EVERY, rows_for, sinc, spec_for

ALGORITHMS: dict[str, Algorithm] = {
    "sequential": Sequential(),
    "single": Sequential("single"),
    "mackay": ReEstimation("mackay"),
    "em": ReEstimation("em"),
}
KERNELS: dict[str, Kernel] = {"gaussian": Gaussian(), "linear spline": LinearSpline()}

each_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=ALGORITHMS)
each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
each_likelihood = pytest.mark.parametrize("likelihood", EVERY.values(), ids=EVERY)


@pytest.fixture(autouse=True)
def few_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    """EM creeps for thousands of steps; what holds for the first 15 holds for them all."""
    monkeypatch.setattr(re_estimation, "MAX_ITERATIONS", 15)


def posed(
    likelihood: Likelihood, kernel: Kernel, algorithm: Algorithm, *, seed: int, rows: int = 24
) -> tuple[Problem, Spec]:
    spec = spec_for(likelihood, kernel=kernel, algorithm=algorithm)
    return pose(*rows_for(likelihood, rows, seed), spec), spec


def last_of(problem: Problem, spec: Spec, start: State | None = None) -> State:
    *_, last = iterate(problem, spec, start)
    return last


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.thorough)])
@each_algorithm
@each_kernel
@each_likelihood
def test_the_objective_never_falls_and_the_fit_ends(
    likelihood: Likelihood, kernel: Kernel, algorithm: Algorithm, seed: int
) -> None:
    problem, spec = posed(likelihood, kernel, algorithm, seed=seed)
    states = list(iterate(problem, spec))
    for before, after in pairwise(states):
        assert after.objective >= before.objective - 1e-9 * (1.0 + abs(before.objective))
    assert [state.termination is None for state in states] == [True] * (len(states) - 1) + [False]
    assert states[-1].termination != Termination.NOISE_FLOOR
    assert states[-1].termination == Termination.CONVERGED or isinstance(algorithm, ReEstimation)
    assert states[-1].objective > states[0].objective


@pytest.mark.thorough
@each_algorithm
@each_likelihood
def test_iterations_count_and_states_represent_themselves(likelihood: Likelihood, algorithm: Algorithm) -> None:
    problem, spec = posed(likelihood, Gaussian(), algorithm, seed=3)
    states = list(iterate(problem, spec))
    assert [state.iteration for state in states[:-1]] == list(range(len(states) - 1))
    for state in states[:: max(1, len(states) // 5)]:
        assert len(set(state.active)) == len(state.active) == len(state.alpha) == len(state.weights)
        assert rebuild(problem, state).evidence.value == pytest.approx(state.objective, rel=1e-8)


@pytest.mark.thorough
@each_algorithm
@each_likelihood
def test_a_resumed_fit_ends_with_the_model_of_the_unbroken_one(
    likelihood: Likelihood, algorithm: Algorithm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitting, "REBUILT_EVERY", 2)
    problem, spec = posed(likelihood, Gaussian(), algorithm, seed=4)
    states = list(iterate(problem, spec))
    stored = [state for state in states[:-1] if state.iteration % 2 == 0]
    assert len(stored) >= 2
    for start in (stored[0], stored[len(stored) // 2], stored[-1]):
        resumed = last_of(replace(problem), spec, start)
        assert resumed.active == states[-1].active
        assert resumed.iteration == states[-1].iteration
        assert resumed.termination == states[-1].termination
        np.testing.assert_allclose(resumed.weights, states[-1].weights, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(resumed.alpha, states[-1].alpha, rtol=1e-9)


def test_a_fit_resumed_at_its_real_resting_states_ends_alike() -> None:
    X, t = sinc(60, 0, noise=0.005)
    spec = spec_for(GaussianNoise(), width=1.0)
    problem = pose(X, t, spec)
    states = list(iterate(problem, spec))
    (start,) = [state for state in states if state.iteration == fitting.REBUILT_EVERY]
    resumed = last_of(problem, spec, start)
    assert resumed.active == states[-1].active
    np.testing.assert_allclose(resumed.weights, states[-1].weights, rtol=1e-9)


@pytest.mark.parametrize("algorithm", [Sequential(), ReEstimation("mackay")], ids=["sequential", "mackay"])
def test_a_curve_without_noise_ends_at_the_noise_floor(algorithm: Algorithm) -> None:
    """The targets are one of the candidates, so that they lie in the span of a single function."""
    x = np.linspace(0.0, 1.0, 20)
    spec = spec_for(GaussianNoise(), kernel=LinearSpline(), width=1.0, algorithm=algorithm)
    t = LinearSpline()(x[:, None], x[10:11, None])[:, 0]
    assert last_of(pose(x[:, None], t, spec), spec).termination == Termination.NOISE_FLOOR


@each_algorithm
@pytest.mark.parametrize("factor", [1e-8, 1e8])
def test_the_unit_of_the_targets_changes_nothing(algorithm: Algorithm, factor: float) -> None:
    X, t = sinc(30, 5)
    spec = spec_for(GaussianNoise(), algorithm=algorithm)
    one, other = last_of(pose(X, t, spec), spec), last_of(pose(X, factor * t, spec), spec)
    assert one.active == other.active

    def f(state: State) -> Array:
        return pose(X, t, spec).columns(state.active) @ state.weights

    np.testing.assert_allclose(f(other) / factor, f(one), rtol=1e-6, atol=1e-9)
    assert other.beta * factor**2 == pytest.approx(one.beta, rel=1e-6)
