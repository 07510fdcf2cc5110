"""Steps of learning the scales of a nearest-neighbour process, recorded in the fit log and resumed from it."""

from collections.abc import Generator
from math import nan

import numpy as np

from relevance_bayes.core.fit_log import FitLog
from relevance_bayes.core.fit_trace import TRACE_COLUMNS, FitTrace, FitTracer
from relevance_bayes.core.hyperparameters import Hyperparameters
from relevance_bayes.core.local.learning import LocalState, LocalTask, Scored, advance
from relevance_bayes.core.selection.rows import Step
from relevance_bayes.core.types import Array

BEST = "best"
"""The phase of the last step."""


def scales_of(task: LocalTask, fit_log: FitLog) -> Generator[Step, None, tuple[Scored, FitTrace]]:
    """The final kernel and hyperparameters, and the steps; the state is recorded after each, with those so far."""
    place, known = fit_log.place, fit_log.recorded()
    state, tracer = LocalState(), FitTracer()
    if known is not None:
        state, tracer = decoded(known, task), FitTracer(_trace(known, task))
    yield Step("neighbours", state.completed, task.steps, "steps")
    while state.found is None:
        kept = encoded(advance(task, state), task)
        state = decoded(kept, task)  # so that a resumed fit has the same bits
        _trace_step(tracer, task, state)
        numbers = tracer.trace.numbers
        fit_log.record(place, np.concatenate([kept, numbers.ravel(), [len(numbers)]]))
        yield Step("neighbours", state.completed, task.steps, "steps")
    return state.found, tracer.trace


def _trace_step(tracer: FitTracer, task: LocalTask, state: LocalState) -> None:
    """Add the step that led to a state: a start of a kernel, its end, or that of the best kernel."""
    place = (state.completed - 1) // (task.starts + 1)
    phase = BEST if place == len(task.kernels) else task.kernels[place].type
    ended = state.found or (state.scored[-1] if len(state.scored) > place else None)
    h = state.start if ended is None else ended.hyperparameters
    noise_sd = nan if h is None else task.problem.likelihood.noise(task.problem.precision(h.beta))
    tracer.add(
        phase,
        state.completed,
        nan if ended is None else ended.score,
        nan,
        nan if noise_sd is None else noise_sd,
        len(task.fixed),
        entered=nan,
        left=nan,
    )


def _trace(recorded: Array, task: LocalTask) -> FitTrace:
    """The trace behind the numbers of a state: few steps, of which none is left out."""
    size = int(recorded[-1])
    numbers = recorded[-1 - TRACE_COLUMNS * size : -1].reshape(size, TRACE_COLUMNS)
    names = (*(kernel.type for kernel in task.kernels), BEST)
    phases = names[: int(numbers[:, 1].max(initial=-1.0)) + 1]
    return FitTrace(size, 1, phases, numbers)


def encoded(state: LocalState, task: LocalTask) -> Array:
    """A state of learning as numbers (n,): the completed steps, current start, each finished kernel, and the end."""
    found = () if state.found is None else (state.found,)
    head = [state.completed, state.start is not None, state.reached, len(state.scored), len(found)]
    parts = [np.array(head, np.float64)]
    if state.start is not None:
        parts.append(state.start.packed())
    for one in (*state.scored, *found):
        parts += [np.array([task.kernels.index(one.kernel), one.score]), one.hyperparameters.packed()]
    return np.concatenate(parts)


def decoded(numbers: Array, task: LocalTask) -> LocalState:
    """The state of learning from its `encoded` numbers (n,)."""
    completed, has_start, reached, scored, found = numbers[:5].tolist()
    like = task.space(task.kernels[0]).start(0)
    size = len(like.packed())
    start: Hyperparameters | None = None
    place = 5
    if has_start:
        start, place = like.unpacked(numbers[place : place + size]), place + size
    done = list[Scored]()
    for _ in range(int(scored + found)):
        kernel, score = numbers[place : place + 2].tolist()
        h = like.unpacked(numbers[place + 2 : place + 2 + size])
        done.append(Scored(task.kernels[int(kernel)], h, score))
        place += 2 + size
    end = done.pop() if found else None
    return LocalState(int(completed), start, reached, tuple(done), end)
