"""The trace of a fit has its steps: thinned evenly, in bounded memory, and the same after a resumption."""

from math import isnan, nan

import numpy as np
import pytest

from relevance_bayes.core.algorithms import Sequential
from relevance_bayes.core.algorithms.state import MAX_STEPS, FitTracer
from relevance_bayes.core.kernels.hyperparameters import FixedWidth
from relevance_bayes.core.likelihoods import Bernoulli, GaussianNoise
from relevance_bayes.core.models.fitting import FitLog, iterates, pose
from tests.library.core.test_fit_log import (
    TRAININGS,
    Training,
    classical,
    end,
    few_iterations,
    marks_on_the_way,
    rows_of,
)

__all__ = ["few_iterations"]


def add(tracer: FitTracer, iteration: int, phase: str = "fit") -> None:
    tracer.add(phase, iteration, float(iteration), 1.0, 0.5, iteration % 7, entered=nan, left=nan)


@pytest.mark.parametrize("steps", [1, 2, MAX_STEPS - 1, MAX_STEPS, MAX_STEPS + 1, 2 * MAX_STEPS + 3, 17_001])
def test_steps_are_thinned_evenly_and_the_first_and_the_last_stay(steps: int) -> None:
    tracer = FitTracer()
    for number in range(steps):
        add(tracer, number)
    kept = [one.iteration for one in tracer.trace.each()]
    assert len(kept) <= MAX_STEPS
    assert len(kept) >= min(steps, MAX_STEPS // 2)
    assert (kept[0], kept[-1]) == (0, steps - 1)
    assert len(set(np.diff(kept[:-1]).tolist())) <= 1
    assert tracer.trace.steps == steps


@pytest.mark.parametrize("cut", [1, 2, 499, 500, 501, 777, 1_200])
def test_a_trace_goes_on_from_a_stored_one_as_if_it_had_not_been_stored(cut: int) -> None:
    whole, first = FitTracer(), FitTracer()
    for number in range(1_300):
        add(whole, number, "one" if number < 600 else "two")
        if number < cut:
            add(first, number, "one" if number < 600 else "two")
    again = FitTracer(first.trace)
    for number in range(cut, 1_300):
        add(again, number, "one" if number < 600 else "two")
    assert str(again.trace.each()) == str(whole.trace.each())
    np.testing.assert_array_equal(again.trace.numbers, whole.trace.numbers)


@pytest.mark.parametrize("name", ["inner", "price, kinds alone", "process", "single, classes"])
def test_a_trace_has_the_steps_of_the_fit(name: str) -> None:
    training = TRAININGS[name]
    rows = rows_of(training)
    problem = pose(rows.X, rows.t, training.spec)
    states = [now.state for now in iterates(problem, training.spec)]
    *_, last = FitLog().iterates(problem, training.spec)
    assert last.state.trace is not None
    found = {one.iteration: one for one in last.state.trace.each()}
    assert len(found) > 3
    for state in states:
        one = found.get(state.iteration)
        if one is None:
            continue
        assert one.functions == len(state.active)
        if np.isfinite(state.objective):
            assert one.objective == state.objective + problem.log_jacobian
        expected = problem.likelihood.noise(problem.precision(state.beta))
        assert np.array_equal(one.noise_sd, nan if expected is None else expected, equal_nan=True)


@pytest.mark.thorough
@pytest.mark.parametrize("name", TRAININGS)
def test_the_objective_never_falls_within_a_phase(name: str) -> None:
    trace = end(TRAININGS[name], FitLog()).model.trace
    assert trace is not None
    rising = [one for one in trace.each() if not isnan(one.gain)]
    assert rising
    assert all(one.gain >= -1e-9 * (1.0 + abs(one.objective)) for one in rising)


def test_functions_that_enter_and_leave_are_named_by_their_rows() -> None:
    training = Training(classical(GaussianNoise(), FixedWidth(1.0), Sequential("single")))
    rows = rows_of(training)
    problem = pose(rows.X, rows.t, training.spec)
    *_, last = FitLog().iterates(problem, training.spec)
    assert last.state.trace is not None
    kernels = {number for number in last.state.active if number < len(rows.t)}
    present: set[float] = set()
    for one in last.state.trace.each():
        present |= {one.entered} - {nan}
        present -= {one.left}
    assert {one for one in present if not isnan(one)} == kernels
    assert len(kernels) > 3


def test_a_trace_adds_little_to_a_checkpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, _ = marks_on_the_way(Training(classical(Bernoulli(), FixedWidth(1.0), Sequential("single"))))
    (state,) = seen[-1]
    assert state is not None
    assert not isinstance(state, np.ndarray)
    assert state.trace is not None
    assert state.trace.numbers.nbytes <= 9 * 8 * MAX_STEPS
