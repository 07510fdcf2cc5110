"""Properties of the algorithm of a Gaussian process prior, step by step."""

from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Literal
from unittest.mock import Mock

import numpy as np
import pytest

from relevance_bayes.core import rows as row_source
from relevance_bayes.core.algorithms import greedy
from relevance_bayes.core.algorithms import greedy as phases
from relevance_bayes.core.algorithms import hyperparameter_space as lbfgs
from relevance_bayes.core.algorithms.greedy import STEPS
from relevance_bayes.core.algorithms.state import Iterate, Process, State, Termination
from relevance_bayes.core.algorithms.task import ProcessTask
from relevance_bayes.core.basis import ConstantFunction, InputFunctions, KernelFunctions, evaluate
from relevance_bayes.core.errors import NotPositiveDefiniteError, SparseBayesError
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.kernels.hyperparameters import FixedWidth, Hyperparameters, InputMap
from relevance_bayes.core.likelihoods import Bernoulli, GaussianNoise, Likelihood
from relevance_bayes.core.models.fitting import fit, iterate, iterates, learned, pose
from relevance_bayes.core.models.model import Model, Spec
from relevance_bayes.core.models.prediction import RealPrediction, predict
from relevance_bayes.core.priors import JITTER
from relevance_bayes.core.types import Array
from tests.library.core.drawn import LIKELIHOODS, WIDTHS, friedman, process_spec, rows_for, sinc, spec_for, width_for

SPECS: dict[str, Spec] = {
    "each": process_spec(GaussianNoise()),
    "each, warps, inputs": process_spec(GaussianNoise(), warp="evidence", inputs=True),
    "one, on rows": process_spec(GaussianNoise(), width=WIDTHS["one"], vectors="rows"),
    "fixed": process_spec(GaussianNoise(), width=WIDTHS["fixed"]),
    "noise known": process_spec(GaussianNoise(0.1)),
    "classes": process_spec(Bernoulli(), inputs=True),
    "classes, fixed": process_spec(Bernoulli(), width=FixedWidth(0.5)),
}

each_spec = pytest.mark.parametrize("name", SPECS)

MEASURED_ANEW = {"noise", "rows"}
"""Phases that look at other rows or functions than those before, so that their objectives can't be compared."""


@cache
def walked(name: str) -> tuple[Problem, tuple[Iterate, ...]]:
    """A problem with all that stood on the way through it, walked once."""
    spec = SPECS[name]
    problem = pose(
        *rows_for(spec.model_likelihood, 40 if spec.model_likelihood.has_constant_precision else 24, 0), spec
    )
    return problem, tuple(iterates(problem, spec))


def hyperparameters_of(state: State) -> Hyperparameters:
    assert state.process is not None
    return state.process.hyperparameters


def kernel_functions_of(model: Model) -> KernelFunctions:
    (functions,) = [member for member in model.functions if isinstance(member, KernelFunctions)]
    return functions


def inputs_in(model: Model) -> list[int]:
    """Which inputs are functions of the model."""
    return [int(k) for member in model.functions if isinstance(member, InputFunctions) for k in member.columns]


@each_spec
def test_the_objective_never_falls_within_a_phase_and_the_fit_ends(name: str) -> None:
    _, iterated = walked(name)
    states = [now.state for now in iterated]
    for before, after in pairwise(states):
        assert before.process is not None
        if before.process.phase not in MEASURED_ANEW:
            assert after.objective >= before.objective
    assert [state.termination is None for state in states] == [True] * (len(states) - 1) + [False]
    assert states[-1].termination == Termination.CONVERGED
    assert [state.iteration for state in states] == list(range(len(states)))


@each_spec
def test_a_fit_resumed_at_any_state_ends_with_the_same_model(name: str) -> None:
    problem, iterated = walked(name)
    unbroken = iterated[-1]
    model = learned(problem, unbroken)
    for start in iterated[1:-1:3]:
        *_, last = iterates(replace(problem), SPECS[name], start.state)
        resumed = learned(problem, last)
        assert last.state.active == unbroken.state.active
        assert last.state.iteration == unbroken.state.iteration
        np.testing.assert_allclose(resumed.mean, model.mean, rtol=1e-9)
        assert resumed.evidence.value == pytest.approx(model.evidence.value, rel=1e-12)


@each_spec
def test_functions_stay_in_once_they_are_in_and_none_is_there_twice(name: str) -> None:
    problem, iterated = walked(name)
    for state in (now.state for now in iterated):
        assert len(set(state.active)) == len(state.active)
        assert len(state.alpha) == len(hyperparameters_of(state).alpha) <= len(state.active)
        assert all(0 <= number < problem.candidates.size for number in state.active)


@each_spec
def test_a_model_holds_the_posterior_of_its_functions(name: str) -> None:
    """Weights of the functions themselves: A = blkdiag(E_mm/s, alpha), Sigma = (A + P'diag(lam)P)^-1."""
    problem, (*_, last) = walked(name)
    model, h = learned(problem, last), hyperparameters_of(last.state)
    functions = kernel_functions_of(model)
    m, R = functions.size, len(model.mean)
    assert isinstance(model.functions[0], KernelFunctions)
    assert model.signal_variance == h.signal_variance
    A = np.zeros((R, R))
    A[:m, :m] = (functions(functions.centres, np.arange(m)) + JITTER * np.eye(m)) / h.signal_variance
    A[m:, m:] = np.diag(h.alpha)
    prior = np.linalg.solve(A, np.eye(R)).diagonal()
    np.testing.assert_allclose(model.alpha, 1.0 / prior, rtol=1e-5)
    np.testing.assert_allclose(model.gamma, 1.0 - model.covariance.diagonal() / prior, rtol=1e-5, atol=1e-7)
    assert (model.gamma >= -1e-9).all()
    assert (model.gamma <= 1.0).all()
    if problem.likelihood.has_constant_precision:
        P = evaluate(model.functions, problem.X)
        precision = A + h.beta * P.T @ P
        mu = np.linalg.solve(precision, h.beta * P.T @ problem.t)
        np.testing.assert_allclose(P @ model.mean, P @ mu + problem.centre, rtol=1e-6, atol=1e-8)
        explained = P @ np.linalg.solve(precision, P.T)
        np.testing.assert_allclose(P @ model.covariance @ P.T, explained, rtol=1e-5, atol=1e-9)


@each_spec
def test_a_model_states_what_it_was_learned_from(name: str) -> None:
    problem, (*_, last) = walked(name)
    model = learned(problem, last)
    assert (model.rows, model.inputs) == problem.X.shape
    assert model.candidates == problem.candidates.size
    assert model.evidence.value == last.state.objective
    assert any(isinstance(functions, ConstantFunction) for functions in model.functions)
    assert (model.noise_sd == 0.1) == (name == "noise known")
    assert model.last_gain is not None
    assert model.next_gain is not None
    assert model.last_gain >= 3.0 > model.next_gain


@pytest.mark.thorough
@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
@pytest.mark.parametrize("name", LIKELIHOODS)
def test_on_rows_vectors_stay(name: str, width: FixedWidth) -> None:
    likelihood = LIKELIHOODS[name]
    X, t = rows_for(likelihood, 24, 0)
    functions = kernel_functions_of(fit(X, t, process_spec(likelihood, width=width, vectors="rows")))
    assert functions.size > 0
    np.testing.assert_array_equal(functions.centres, X[functions.rows])


def test_free_vectors_leave_their_rows_and_raise_the_bound() -> None:
    X, t = sinc(40, 1)
    free, on_rows = (fit(X, t, process_spec(GaussianNoise(), vectors=vectors)) for vectors in ("optimised", "rows"))
    functions = kernel_functions_of(free)
    assert (functions.centres != X[functions.rows]).any()
    assert free.evidence.value > on_rows.evidence.value - 0.5


@pytest.mark.parametrize("block_rows", [4_096, 7])
@pytest.mark.parametrize("warp", ["none", "evidence"])
def test_a_vector_that_moved_is_on_the_row_that_the_kernel_sees_nearest(
    warp: Literal["none", "evidence"], block_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_source, "BLOCK_ROWS", block_rows)
    X, t, _ = friedman(60, 0)
    functions = kernel_functions_of(fit(X, t, process_spec(GaussianNoise(), warp=warp, max_functions=8)))
    U, V = functions.input_map(X), functions.input_map(functions.centres)
    squares = np.square(U[None] - V[:, None]).sum(axis=2)
    np.testing.assert_array_equal(functions.rows, squares.argmin(axis=1))


@pytest.mark.parametrize("likelihood", [GaussianNoise(), Bernoulli()], ids=lambda member: member.type)
def test_a_fixed_width_stays_and_only_noise_and_amplitudes_are_learned(likelihood: Likelihood) -> None:
    X, t = rows_for(likelihood, 40, 0)
    width = FixedWidth(width_for(likelihood))
    spec = process_spec(likelihood, width=width)
    states = list(iterate(pose(X, t, spec), spec))
    for state in states:
        scales = hyperparameters_of(state).input_map
        assert scales.widths.tolist() == pytest.approx([width.value], rel=1e-12)
        assert scales.skew is None
        assert scales.tail is None
    first, last = hyperparameters_of(states[0]), hyperparameters_of(states[-1])
    assert first.signal_variance != last.signal_variance
    assert (first.beta != last.beta) == likelihood.has_constant_precision
    functions = kernel_functions_of(fit(X, t, spec))
    np.testing.assert_array_equal(functions.centres, X[functions.rows])


@pytest.mark.parametrize("name", ["one", "each"])
@pytest.mark.parametrize("warp", [True, False], ids=["warped", "plain"])
def test_an_input_map_has_what_was_requested(name: str, warp: bool) -> None:
    X, t = sinc(30, 0)
    X = np.column_stack([X, np.cos(X)])
    found = kernel_functions_of(
        fit(X, t, process_spec(GaussianNoise(), width=WIDTHS[name], warp="evidence" if warp else "none"))
    ).input_map
    assert found.widths.shape == ((1,) if name == "one" else (2,))
    assert (found.skew is not None) == (found.tail is not None) == warp


@pytest.mark.parametrize("likelihood", [GaussianNoise(), Bernoulli()], ids=lambda member: member.type)
@pytest.mark.parametrize("max_functions", [1, 3])
def test_there_are_never_more_functions_than_the_most(likelihood: Likelihood, max_functions: int) -> None:
    X, t = rows_for(likelihood, 40, 0)
    model = fit(X, t, process_spec(likelihood, width=FixedWidth(0.5), min_gain=0.1, max_functions=max_functions))
    assert kernel_functions_of(model).size == max_functions


def test_a_greater_least_gain_keeps_fewer_functions() -> None:
    X, t = sinc(60, 0)
    sizes = [
        kernel_functions_of(fit(X, t, process_spec(GaussianNoise(), width=WIDTHS["fixed"], min_gain=minimum))).size
        for minimum in (0.5, 3.0, 20.0)
    ]
    assert sizes[0] >= sizes[1] > sizes[2] >= 1


def test_inputs_enter_where_they_explain() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 4))
    t = 3.0 * X[:, 1] - 2.0 * X[:, 3] + 0.1 * rng.standard_normal(80)
    model = fit(X, t, process_spec(GaussianNoise(), inputs=True))
    assert set(inputs_in(model)) >= {1, 3}
    assert model.noise_sd == pytest.approx(0.1, rel=0.3)


@pytest.mark.parametrize("seed", range(3))
def test_inputs_change_next_to_nothing_where_they_explain_nothing(seed: int) -> None:
    X, t = sinc(60, seed)
    without, beside = (fit(X, t, process_spec(GaussianNoise(), inputs=inputs)) for inputs in (False, True))
    there, here = predict(without, X), predict(beside, X)
    assert isinstance(there, RealPrediction)
    assert isinstance(here, RealPrediction)
    assert np.abs(here.mean - there.mean).max() < 0.2 * np.sqrt(there.variance.min())
    assert beside.noise_sd == pytest.approx(without.noise_sd, rel=0.05)


def test_without_a_bias_the_kernel_does_it_alone() -> None:
    X, t = sinc(40, 0)
    spec = process_spec(GaussianNoise())
    model = fit(X, t, replace(spec, basis=spec.basis[:1]))
    assert len(model.functions) == 1
    assert kernel_functions_of(model).size == len(model.mean)


def test_only_centres_carry_functions() -> None:
    centres = np.arange(0, 40, 3)
    X, t = sinc(40, 0)
    model = fit(X, t, process_spec(GaussianNoise(), vectors="rows"), centres=centres)
    assert model.candidates == 15
    assert set(kernel_functions_of(model).rows.tolist()) <= set(centres.tolist())


def test_a_seed_decides_only_where_rows_are_drawn() -> None:
    """Few rows are all looked at, whatever the seed."""
    X, t = sinc(40, 0)
    one, other = (fit(X, t, replace(SPECS["each"], seed=seed)) for seed in (0, 1))
    np.testing.assert_array_equal(one.mean, other.mean)


def test_a_state_of_another_algorithm_is_refused() -> None:
    X, t = sinc(20, 0)
    other = spec_for(GaussianNoise())
    first, *_ = iterate(pose(X, t, other), other)
    with pytest.raises(SparseBayesError, match="state under a Gaussian process"):
        list(iterate(pose(X, t, SPECS["fixed"]), SPECS["fixed"], first))


def bound_of(model: Model, X: Array, t: Array) -> float:
    """log N(t; 0, Q + noise) less half the sum of what is left of s over the noise's variance [TITSIAS2009]."""
    functions = kernel_functions_of(model)
    every = np.arange(functions.size)
    E, E_mm = functions(X, every), functions(functions.centres, every) + JITTER * np.eye(functions.size)
    F = evaluate(model.functions[1:], X)
    assert model.signal_variance is not None
    assert model.noise_sd is not None
    explained = model.signal_variance * E @ np.linalg.solve(E_mm, E.T)
    C = explained + (F / model.alpha[functions.size :]) @ F.T + model.noise_sd**2 * np.eye(len(t))
    lower = np.linalg.cholesky(C)
    log_density = -0.5 * float(np.square(np.linalg.solve(lower, t)).sum()) - float(np.log(lower.diagonal()).sum())
    price = 0.5 * float((model.signal_variance - explained.diagonal()).sum()) / model.noise_sd**2
    return log_density - 0.5 * len(t) * float(np.log(2.0 * np.pi)) - price


@pytest.mark.parametrize("name", [name for name, spec in SPECS.items() if spec.model_likelihood.has_constant_precision])
def test_the_evidence_of_a_model_is_the_bound_on_its_rows(name: str) -> None:
    problem, (*_, last) = walked(name)
    model = learned(problem, last)
    assert model.evidence.value == pytest.approx(bound_of(model, problem.X, problem.t), rel=1e-6)


@pytest.mark.parametrize("rows", [300, 1_100])
def test_of_many_rows_all_are_learned_from(rows: int) -> None:
    """Scales, functions and places are found on some; noise, amplitude and the posterior are those of all."""
    X, t = sinc(rows, 0)
    model = fit(X, t, process_spec(GaussianNoise()))
    assert model.rows == rows
    assert model.noise_sd == pytest.approx(0.1, rel=0.1)
    P = evaluate(model.functions, X)
    assert float(np.sqrt(np.mean((P @ model.mean - np.sinc(X[:, 0] / np.pi)) ** 2))) < 0.02
    assert model.evidence.value == pytest.approx(bound_of(model, X, t - t.mean()), rel=1e-6)


def test_the_rows_drawn_depend_on_their_content_alone() -> None:
    X, t = sinc(300, 0)
    order = np.random.default_rng(0).permutation(300)
    spec = process_spec(GaussianNoise(), width=WIDTHS["fixed"])
    one, other = kernel_functions_of(fit(X, t, spec)), kernel_functions_of(fit(X[order], t[order], spec))
    drawn = [pose(*some, spec).sample(100).X[:, 0] for some in ((X, t), (X[order], t[order]))]
    np.testing.assert_array_equal(np.sort(drawn[0]), np.sort(drawn[1]))
    # Sums in another order differ by rounding, which decides between neighbours of equal gain.
    np.testing.assert_allclose(np.sort(X[one.rows, 0]), np.sort(X[order][other.rows, 0]), atol=0.05)


def test_a_step_that_rounding_forbids_is_tried_again_with_more_jitter() -> None:
    spec = process_spec(GaussianNoise(), vectors="rows")
    problem = pose(*sinc(60, 0), spec)
    *_, now = (now for now in iterates(problem, spec) if now.state.process and now.state.process.phase == "functions")
    h = replace(hyperparameters_of(now.state), input_map=InputMap(np.array([30.0])), jitter=1e-19)
    process = replace(process_phase(now.state, "noise"), hyperparameters=h)
    begin = replace(now.state, active=(*now.state.active, *range(60)), process=process)
    *_, last = iterates(problem, spec, begin)
    jitter = hyperparameters_of(last.state).jitter
    assert jitter is not None
    assert 1e-18 < jitter <= 1e-9
    assert last.state.termination == Termination.CONVERGED


def test_a_step_that_no_jitter_makes_computable_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(task: ProcessTask, state: State, process: Process) -> State:
        raise NotPositiveDefiniteError("expected a positive definite matrix of order 59")

    spec = process_spec(GaussianNoise())
    monkeypatch.setitem(STEPS, "noise", failing)
    with pytest.raises(NotPositiveDefiniteError, match="order 59"):
        list(iterates(pose(*sinc(20, 0), spec), spec))


def test_an_end_that_no_prediction_can_be_computed_from_is_continued() -> None:
    spec = process_spec(GaussianNoise())
    problem = pose(*sinc(30, 0), spec)
    *_, last = iterates(problem, spec)
    error = NotPositiveDefiniteError("expected a positive definite matrix of order 59")
    *_, again = iterates(problem, spec, greedy.with_more_jitter(last.state, error))
    assert learned(problem, again).jitter == pytest.approx(10.0 * JITTER)
    once = replace(hyperparameters_of(again.state), jitter=greedy.MAX_JITTER)
    with pytest.raises(NotPositiveDefiniteError, match="order 59"):
        greedy.with_more_jitter(
            replace(again.state, process=replace(process_phase(again.state, "rows"), hyperparameters=once)), error
        )


def process_phase(state: State, phase: str) -> Process:
    assert state.process is not None
    return replace(state.process, phase=phase)


@pytest.mark.parametrize(("requested", "expected"), [(None, phases.SHORT), (3, 3), (40, 40)])
def test_the_iterations_on_all_rows_are_those_requested_or_those_the_work_permits(
    requested: int | None, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    maximise = Mock(wraps=lbfgs.maximise)
    monkeypatch.setattr(phases, "maximise", maximise)
    monkeypatch.setattr(phases, "MAX_WORK", 1.0)
    X, t, _ = friedman(200, 0)
    spec = replace(process_spec(GaussianNoise()), algorithm=greedy.Greedy(max_iterations=requested))
    fit(X, t, spec)
    assert maximise.call_args.args[4] == expected
