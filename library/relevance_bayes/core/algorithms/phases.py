"""The phases of learning a sparse Gaussian process, each a step from state to state [THEORY 12].

scales     hyperparameters of the full process; a few iterations from each start on few rows, the best to the end
terms      inputs that gain from a term of their own, where requested
functions  the rows that carry a function, at these scales
noise      beta falls while L rises, since the residual of few functions is noise
vectors    the inducing points alone, where they are optimised
together   all hyperparameters and inducing points
growth     of many rows: functions that gain beside these, on all rows or 100,000; then `together` once more. From
           few functions that were chosen for another reason it comes first: these alone would end `together` at
           scales that are too wide
rows       noise, signal variance and precisions on all rows
"""

from collections.abc import Callable
from dataclasses import replace
from math import inf, log

import numpy as np

from relevance_bayes.core.algorithms.hyperparameter_space import CAUTIOUS_SIGNAL_TO_NOISE, MAX_SIGNAL_TO_NOISE
from relevance_bayes.core.algorithms.lbfgs import maximise
from relevance_bayes.core.algorithms.objectives import of_bound, of_process, of_sums, with_head, with_hyperparameters
from relevance_bayes.core.algorithms.separation import separated
from relevance_bayes.core.algorithms.state import Process, State, Termination
from relevance_bayes.core.algorithms.task import (
    MAX_FUNCTIONS,
    MAX_PIVOTS,
    PIVOTS_FOR_STARTS,
    RISE,
    Task,
    process_of,
)
from relevance_bayes.core.choice import choose
from relevance_bayes.core.errors import SparseBayesError
from relevance_bayes.core.hyperparameters import Hyperparameters
from relevance_bayes.core.process import Rows
from relevance_bayes.core.process_growth import choose_more
from relevance_bayes.core.process_sums import RowSums
from relevance_bayes.core.scales import InputMap
from relevance_bayes.core.types import Array
from relevance_bayes.core.variational import Optimum

MAX_ROUNDS = 8
"""The most rounds in which functions are added to those in the model."""

BEFORE_TOGETHER = -1
"""The round of a fit whose functions grow before everything is first optimised together."""

MIN_GROWTH = 32
"""A round adds at most as many functions as there are, or this many: its scales were learned with fewer."""

SHORT, LONG, VERY_LONG = 15, 60, 120
"""Iterations of L-BFGS in one step."""

MAX_WORK = 4e11
"""Rows times pairs of functions, over all iterations of one phase `together`: some 45 s of a core."""

LATER_WORK = 0.75
"""The share of it in later rounds, which start from the one before: kin40k, 512 functions, takes 82 s of two cores for
93, with an RMSE of .147 for .145."""

LOG_BETA_DECREASES = (0.0, 0.4, 0.8, 1.2, 1.8, 2.5, 3.5, 5.0, 6.5, 8.0, 10.0, 12.0, 14.0)
"""The decreases of log beta that are tried when few functions replace the full process. From the beta of a process that
found nearly no noise, the trace term would drive all other hyperparameters to 0."""

MAX_CHANGE = 1.0
"""The largest change of log s from its value with many functions, where the latent has units of its own."""

MAX_MOVE = 2.0
"""The largest distance of an inducing point from its row, in standardised inputs."""

MAX_UNIT = 10.0
"""The largest unit of a move along an input, in standardised inputs: one that does not matter has any large width."""


def _scales(task: Task, state: State, process: Process) -> State:
    number, last = process.starts, task.space.starts
    h = task.space.start(number) if number < last else process.hyperparameters
    cap = max(CAUTIOUS_SIGNAL_TO_NOISE if number <= last else MAX_SIGNAL_TO_NOISE, task.space.begin_cap)
    rows = task.rows_for_starts(state) if number < last else task.rows_for_scales(state)
    objective = of_process(task, rows, h, PIVOTS_FOR_STARTS if number < last else MAX_PIVOTS)
    iterations, origin = SHORT if number < last else LONG, task.origin(rows)
    theta, value = maximise(
        objective,
        h.packed(),
        task.space.free(h),
        task.space.box(h, cap),
        iterations,
        origin=origin,
        flat=RISE / len(rows.t),
        ties=task.space.ties(h),
    )
    # The objectives of the starts are of fewer rows.
    if number == last or value > state.objective:
        state = with_hyperparameters(replace(state, objective=value), h.unpacked(theta))
    is_bounded = number == last and task.space.free(h)[0] and theta[0] >= task.space.max_log_beta(cap) - 1e-3
    found = process_of(state)
    if number < last or is_bounded:
        found = replace(found, starts=number + 1)
    else:
        found = replace(found, starts=0, phase="terms" if task.problem.learning.additive else "functions")
    return replace(state, process=found)


def _functions(task: Task, state: State, process: Process) -> State:
    h = process.hyperparameters
    places, rows = task.rows_for_functions(state)
    gradient, precision = task.sites(rows, h)
    U = h.input_map(rows.X)
    chosen = choose(
        h.covariance(task.kernel)(U, U[: len(places)]),
        signal_variance=h.signal_variance,
        gradient=gradient,
        precision=precision,
        fixed=rows.F,
        alpha=h.alpha,
        min_gain=task.prior.min_gain or task.problem.likelihood.min_gain,
        max_functions=min(task.max_functions, MAX_FUNCTIONS),
    )
    numbers = (int(number) for number in task.first + places[chosen.places])
    found = replace(
        process,
        phase="noise",
        last_gain=float(chosen.gains[-1]) if len(chosen.gains) else None,
        next_gain=chosen.next_gain,
    )
    return replace(state, active=(*state.active, *numbers), process=found)


def _noise(task: Task, state: State, process: Process) -> State:
    h = process.hyperparameters
    moves = task.prior.inducing_points == "optimised" and len(state.active) > len(h.alpha) and task.space.learns
    moved = InputMap(np.ones(1), h.input_map.skew, h.input_map.tail)(task.vectors(state).X) if moves else None
    after = "growth" if process.round == BEFORE_TOGETHER else "vectors" if moves else "together"
    state = replace(state, process=replace(process, phase=after, moved=moved))
    some = task.together(state)
    known = some if isinstance(some, Rows) else task.sums_over(some, state, task.near(some, state, h))
    best, value = h, -inf
    for falls in LOG_BETA_DECREASES if task.space.free(h)[0] else (0.0,):
        tried = replace(h, beta=h.beta * float(np.exp(-falls)))
        if isinstance(known, RowSums):
            reached = known.at(tried).value
        else:
            reached = task.bound(known, task.vectors(state), tried).value
        if reached > value:
            best, value = tried, reached
    prior, _ = task.space.log_prior(best)
    return with_hyperparameters(replace(state, objective=value + prior), best)


def _vectors(task: Task, state: State, process: Process) -> State:
    return _together(task, state, process, only_vectors=True)


def _together(task: Task, state: State, process: Process, *, only_vectors: bool = False) -> State:
    """All hyperparameters, where the latent has the targets' units.

    Other likelihoods keep the scales learned through many functions, and log s within MAX_CHANGE: a row determines its
    latent too weakly for few functions, and the scales would collapse [THEORY 15].
    """
    is_bounded = task.problem.likelihood.has_target_units
    h, moved = process.hyperparameters, process.moved
    rows = task.together(state)
    start = h.packed() if moved is None else np.append(h.packed(), moved)
    own = task.space.free(h)
    n = len(own)
    own &= not only_vectors
    if not (task.space.learns and is_bounded):
        own[2 + len(h.alpha) :] = False
    low, high = task.space.box(h, max(CAUTIOUS_SIGNAL_TO_NOISE, log(h.beta * task.problem.square) + MAX_MOVE))
    if not is_bounded:
        low[1], high[1] = start[1] - MAX_CHANGE, start[1] + MAX_CHANGE
    low, high = np.append(low, start[n:] - MAX_MOVE), np.append(high, start[n:] + MAX_MOVE)
    free = np.append(own, np.ones(len(start) - n, np.bool_))
    iterations = (
        min(SHORT, task.max_iterations or SHORT) if only_vectors else _iterations(task, state, process, len(rows.t))
    )
    objective = of_bound(task, state, rows, h)
    ties = np.append(task.space.ties(h), np.arange(n, len(start)))
    theta, value = maximise(
        objective,
        start,
        free,
        (low, high),
        iterations,
        origin=task.origin(rows),
        flat=RISE / len(rows.t),
        ties=ties,
        units=np.append(np.ones(n), _units_of_moves(h, moved)),
    )
    if value > state.objective:
        state = replace(state, objective=value)
        state = with_hyperparameters(state, h.unpacked(theta[:n]))
        if moved is not None:
            state = replace(state, process=replace(process_of(state), moved=theta[n:].reshape(moved.shape)))
    after = "growth" if task.grows and process.round is not None else "rows"
    return replace(state, process=replace(process_of(state), phase="together" if only_vectors else after))


def _units_of_moves(h: Hyperparameters, moved: Array | None) -> Array:
    """The units in which L-BFGS sees moves of inducing points: the width of each input.

    Changes of the logarithms of hyperparameters are relative, too. With units of 1 as many evaluations reach a bound
    that is lower by 590 nats (kin40k, 256 functions) and 390 (a Matern 3/2 process of two inputs among eight, 64).
    """
    if moved is None:
        return np.empty(0)
    return np.broadcast_to(np.minimum(h.input_map.widths, MAX_UNIT), moved.shape).ravel()


def _iterations(task: Task, state: State, process: Process, rows: int) -> int:
    """The requested iterations, else those affordable; fewer in later rounds, which start from the one before."""
    if task.max_iterations is not None:
        return task.max_iterations
    R = max(len(state.active), 1)
    longest, work = (LONG, LATER_WORK * MAX_WORK) if process.round else (VERY_LONG, MAX_WORK)
    return min(max(int(work / (rows * R**2)), SHORT), longest)


def _growth(task: Task, state: State, process: Process) -> State:
    """Add the functions that gain beside those in the model, at most as many again; record the best gain of the
    others, as of all rows."""
    h, own = process.hyperparameters, len(state.active) - len(state.alpha)
    rounds = max(process.round or 0, 0)
    found = replace(process, round=rounds + 1, phase="together")
    problem = task.together(replace(state, process=found))
    if isinstance(problem, Rows):
        raise SparseBayesError("expected sums over blocks of rows")
    places = task.places_for_growth(state, problem.rows)
    free = task.max_functions - own if rounds < MAX_ROUNDS else 0
    chosen = choose_more(
        problem,
        state.active[: len(state.alpha)],
        task.vectors(state),
        task.kernel,
        h,
        task.sums_over(problem, state, task.near(problem, state, h)),
        task.functions.centres[places],
        min_gain=task.prior.min_gain or task.problem.likelihood.min_gain,
        max_functions=min(free, max(own, MIN_GROWTH)),
    )
    scale = task.problem.rows / problem.rows
    found = replace(found, next_gain=chosen.next_gain * scale)
    if not len(chosen.places):
        again = replace(state, objective=-inf, process=found)
        is_learned = process.round != BEFORE_TOGETHER and problem.rows <= task.n_rows_together(state)
        return replace(state, process=replace(found, phase="rows")) if is_learned else again
    more = places[chosen.places]
    if process.moved is not None:
        unscaled = InputMap(np.ones(1), h.input_map.skew, h.input_map.tail)(task.functions.centres[more])
        found = replace(found, moved=np.concatenate([process.moved, unscaled]))
    numbers = (int(number) for number in task.first + more)
    found = replace(found, last_gain=float(chosen.gains[-1]) * scale)
    return replace(state, active=(*state.active, *numbers), objective=-inf, process=found)


def on_all_rows(task: Task, state: State, process: Process) -> tuple[State, RowSums | Optimum]:
    """The end of a fit, and the sums over all rows or the optimum there, of which its posterior is computed."""
    h = process.hyperparameters
    end: RowSums | Optimum
    if task.problem.likelihood.is_conjugate and task.is_in_parts(state):
        end = sums = task.sums(replace(state, process=replace(process, origin=None)))
        start, n = h.packed(), 2 + len(h.alpha)
        state = replace(state, process=replace(process, origin=sums.origin))
        if task.prior.rho:  # sums are of the precisions that rows have here
            value = sums.at(h).value
        else:
            low, high = task.space.box(h, MAX_SIGNAL_TO_NOISE)
            origin = -0.5 * task.problem.rows * log(task.problem.square)
            free, ties = task.space.free(h)[:n], task.space.ties(h)[:n]
            box = (low[:n], high[:n])
            head, value = maximise(of_sums(sums, h), start[:n], free, box, SHORT, origin=origin, ties=ties)
            h = with_head(h, head)
    else:
        found = task.bound(task.rows(state), task.vectors(state), h)
        end, value = found.optimum, found.value
    floor = task.space.max_log_beta(MAX_SIGNAL_TO_NOISE)
    why = Termination.NOISE_FLOOR if task.space.free(h)[0] and log(h.beta) >= floor - 1e-6 else Termination.CONVERGED
    return with_hyperparameters(replace(state, objective=value, termination=why), h), end


STEPS: dict[str, Callable[[Task, State, Process], State]] = {
    "scales": _scales,
    "terms": separated,
    "functions": _functions,
    "noise": _noise,
    "vectors": _vectors,
    "together": _together,
    "growth": _growth,
}
