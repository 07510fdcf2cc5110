"""A sparse Gaussian process: scales by evidence, functions by their gain, then everything together [THEORY 12].

scales     hyperparameters of the full process, or through pivots; a few iterations from each start on few rows, the
           best to the end
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
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf, log
from typing import ClassVar, Literal, Self

import numpy as np

from relevance_bayes.core.algorithms.hyperparameter_space import CAUTIOUS_SIGNAL_TO_NOISE, MAX_SIGNAL_TO_NOISE, maximise
from relevance_bayes.core.algorithms.process_integral import integral
from relevance_bayes.core.algorithms.scales import (
    MAX_STEPS,
    MAX_STEPS_OF_STARTS,
    TOLERANCE_OF_STARTS,
    ExactScales,
    has_short_starts,
    with_short_starts,
)
from relevance_bayes.core.algorithms.scales_through_pivots import scales_through_pivots
from relevance_bayes.core.algorithms.sequential import of_bound, of_process, of_sums, with_head, with_hyperparameters
from relevance_bayes.core.algorithms.state import Iterate, KeptFunctions, Process, State, Termination, Trial
from relevance_bayes.core.algorithms.task import (
    IRRELEVANT,
    MAX_FUNCTIONS,
    RISE,
    ProcessTask,
    process_of,
)
from relevance_bayes.core.basis import ConstantFunction, KernelFunctions
from relevance_bayes.core.errors import NotPositiveDefiniteError, SparseBayesError
from relevance_bayes.core.inference.evidence import Integral, choose
from relevance_bayes.core.inference.posterior import Optimum
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.inference.process import ProcessRows, RowSums, choose_more
from relevance_bayes.core.kernels.hyperparameters import Hyperparameters, InputMap
from relevance_bayes.core.linalg import squared_distances
from relevance_bayes.core.priors import JITTER, Whitening
from relevance_bayes.core.rows import RowBlock
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.records.reports import Evidence

GAIN = 8.0
"""The least gain of a term in nats: gains of 3 to 7 were false on concrete [THEORY 12]."""

SHARE = 0.3
"""The initial share of a new term in the variance. This start, at the current width, found each gain that ten times the
width, a tenth of it or a sixth of the share did (Friedman's first function)."""

TRIAL_ITERATIONS, FINAL_ITERATIONS = 8, 60
"""Iterations of a trial, and of the best."""


def separated(task: ProcessTask, state: State, process: Process) -> State:
    """One trial; after the last of a round the best is optimised to the end, and another round follows where it is
    kept.

    It comes before the inputs are columns: after that terms gain less, and on one of four draws of Friedman's first
    function the true term was missed (8.0 nats; error .30 for .16).
    """
    onward = replace(state, process=replace(process, phase="functions", starts=0, trial=None))
    places = _candidates(task, process.hyperparameters)
    if process.starts < len(places):
        h = process.hyperparameters
        tried_terms = replace(h, terms=h.terms.with_term(places[process.starts], SHARE))
        found = _maximise(task, state, tried_terms, TRIAL_ITERATIONS)
        best = process.trial if process.trial and process.trial.objective >= found.objective else found
        tried, structures = process.starts + 1, process.structures + 1
        return replace(state, process=replace(process, starts=tried, trial=best, structures=structures))
    if process.trial is None:
        return onward
    found = _maximise(task, state, process.trial.hyperparameters, FINAL_ITERATIONS)
    if found.objective <= state.objective + GAIN:
        return onward
    again = replace(state, objective=found.objective, process=replace(process, starts=0, trial=None))
    return with_hyperparameters(again, found.hyperparameters)


def _candidates(task: ProcessTask, h: Hyperparameters) -> tuple[int, ...]:
    """The inputs that may get a term of their own: the relevant ones, if there are at least two."""
    is_relevant = h.input_map.widths < IRRELEVANT * task.problem.spread
    is_relevant[list(h.terms.alone)] = False
    places = tuple(np.flatnonzero(is_relevant).tolist())
    return places if len(places) > 1 else ()


def _maximise(task: ProcessTask, state: State, h: Hyperparameters, iterations: int) -> Trial:
    rows = task.rows_for_scales(state)
    theta, value = maximise(
        of_process(task, rows, h),
        h.packed(),
        task.space.free(h),
        task.space.box(h, max(CAUTIOUS_SIGNAL_TO_NOISE, log(h.beta * task.problem.square))),
        iterations,
        origin=task.origin(rows),
        flat=RISE / len(rows.t),
        ties=task.space.ties(h),
    )
    return Trial(h.unpacked(theta), value)


MAX_ROUNDS = 8
"""The most rounds in which functions are added to those in the model."""

BEFORE_TOGETHER = -1
"""The round of a fit whose functions grow before everything is first optimised together."""

MIN_GROWTH = 32
"""A round adds at most as many functions as there are, or this many: its scales were learned with fewer."""

SHORT, LONG, VERY_LONG = 15, 60, 120
"""Iterations of L-BFGS in one step."""

ITERATIONS_OF_WIDE = 20
"""Iterations where a wide table has a width for each input. Of 128 inputs and 600 rows, the RMSE of new rows rises with
more: .379, .392, .396, .393 and .395 with 10, 15, 20, 30 and 120. Of three draws of 100 inputs with little noise and
192 rows it is .135, .134, .132 and .132 with 10, 15, 20 and 120."""

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


def _scales(task: ProcessTask, state: State, process: Process) -> State:
    """One start, or those of short widths after all others, or the ascent from the best on all rows of the scales."""
    number, starts = process.starts, task.space.starts
    last = starts + has_short_starts(task)
    is_start = number < last
    h = task.space.start(number) if number < starts else process.hyperparameters
    cap = max(CAUTIOUS_SIGNAL_TO_NOISE if number <= last else MAX_SIGNAL_TO_NOISE, task.space.begin_cap)
    rows = task.rows_for_starts(state) if is_start else task.rows_for_scales(state)
    learn = _exact_scales if task.problem.likelihood.is_conjugate else scales_through_pivots
    learned = partial(learn, task, rows, cap=cap, is_start=is_start)
    is_short = starts <= number < last
    found = with_short_starts(task, rows, Trial(h, state.objective), learned) if is_short else learned(h)
    # The objectives of the starts are of fewer rows.
    if number == last or found.objective > state.objective:
        won = number if number < starts else process.start if number >= last else None
        state = replace(state, objective=found.objective, process=replace(process, start=won))
        state = with_hyperparameters(state, found.hyperparameters)
    beta = found.hyperparameters.beta
    is_bounded = number == last and task.space.free(h)[0] and log(beta) >= task.space.max_log_beta(cap) - 1e-3
    process = process_of(state)
    if is_start or is_bounded:
        process = replace(process, starts=number + 1)
    else:
        process = replace(process, starts=0, phase="terms" if task.problem.learning.additive else "functions")
    return replace(state, process=process)


def _exact_scales(task: ProcessTask, rows: ProcessRows, start: Hyperparameters, *, cap: float, is_start: bool) -> Trial:
    """The best hyperparameters from a start by the exact evidence."""
    steps, tolerance = (MAX_STEPS_OF_STARTS, TOLERANCE_OF_STARTS) if is_start else (MAX_STEPS, task.problem.tolerance)
    best = ExactScales(task, rows, start, cap).learned(steps, tolerance).best
    return Trial(best.process.h, best.value)


def _functions(task: ProcessTask, state: State, process: Process) -> State:
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


def _noise(task: ProcessTask, state: State, process: Process) -> State:
    h = process.hyperparameters
    moves = task.prior.inducing_points == "optimised" and len(state.active) > len(h.alpha) and task.space.learns
    moved = InputMap(np.ones(1), h.input_map.skew, h.input_map.tail)(task.vectors(state).X) if moves else None
    after = "growth" if process.round == BEFORE_TOGETHER else "vectors" if moves else "together"
    state = replace(state, process=replace(process, phase=after, moved=moved))
    some = task.together(state)
    known = some if isinstance(some, ProcessRows) else task.sums_over(some, state, task.near(some, state, h))
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


def _vectors(task: ProcessTask, state: State, process: Process) -> State:
    return _together(task, state, process, only_vectors=True)


def _together(task: ProcessTask, state: State, process: Process, *, only_vectors: bool = False) -> State:
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


def _iterations(task: ProcessTask, state: State, process: Process, rows: int) -> int:
    """The requested iterations, else those affordable; fewer in later rounds, which start from the one before, and of
    wide tables."""
    if task.max_iterations is not None:
        return task.max_iterations
    if task.is_wide:
        return ITERATIONS_OF_WIDE
    R = max(len(state.active), 1)
    longest, work = (LONG, LATER_WORK * MAX_WORK) if process.round else (VERY_LONG, MAX_WORK)
    return min(max(int(work / (rows * R**2)), SHORT), longest)


def _growth(task: ProcessTask, state: State, process: Process) -> State:
    """Add the functions that gain beside those in the model, at most as many again; record the best gain of the
    others, as of all rows."""
    h, own = process.hyperparameters, len(state.active) - len(state.alpha)
    rounds = max(process.round or 0, 0)
    found = replace(process, round=rounds + 1, phase="together")
    problem = task.together(replace(state, process=found))
    if isinstance(problem, ProcessRows):
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


def on_all_rows(task: ProcessTask, state: State, process: Process) -> tuple[State, RowSums | Optimum]:
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


STEPS: dict[str, Callable[[ProcessTask, State, Process], State]] = {
    "scales": _scales,
    "terms": separated,
    "functions": _functions,
    "noise": _noise,
    "vectors": _vectors,
    "together": _together,
    "growth": _growth,
}


@dataclass(frozen=True)
class Greedy:
    """The algorithm of a Gaussian process prior.

    Its objective is L with the log prior of the hyperparameters: of the full process on few rows while scales are
    learned, then the bound on the rows of the phase. It never falls within a phase.

    `max_iterations` of L-BFGS optimise hyperparameters and inducing points together, each time functions were added;
    None: as many as some 45 s of a core permit, from 15 to 120. A fit can't be resumed within them.

    `max_rows`, drawn by content, are those from which scales are learned and functions chosen, and at least 1,000 those
    on which all is optimised together; no functions are added to the first ones, whose weights are of all rows. None:
    as many rows as each phase needs.
    """

    __pydantic_config__ = {"extra": "forbid"}
    has_full_passes: ClassVar[bool] = False
    """True where a step goes over all rows and candidates."""

    max_iterations: int | None = field(default=None, metadata={"ge": 1, "le": 10_000})
    max_rows: int | None = field(default=None, metadata={"ge": 50, "le": 100_000})
    type: Literal["greedy"] = "greedy"

    def init(self, problem: Problem) -> "ProcessIterate":
        """The first start, without inducing points."""
        task = ProcessTask.of(problem)
        first = task.space.start(0)
        fixed = task.space.fixed_numbers()
        state = State(fixed, first.alpha, first.beta, np.empty(0), 0, -inf, process=Process("scales", first))
        return ProcessIterate(state)

    def rebuild(self, problem: Problem, state: State) -> "ProcessIterate":
        """The iterate of the state alone: its `end` is the same to the bit when it is recomputed."""
        return ProcessIterate(state)

    def step(self, problem: Problem, now: Iterate) -> "ProcessIterate":
        """One step of the state's phase, or the same state with more jitter where a matrix is not positive definite."""
        task, state = ProcessTask.of(problem, self.max_iterations, self.max_rows), now.state
        process = process_of(state)
        try:
            if process.phase == "rows":
                ended, end = on_all_rows(task, state, process)
                return ProcessIterate(replace(ended, iteration=state.iteration + 1), end)
            there = replace(STEPS[process.phase](task, state, process), iteration=state.iteration + 1)
        except NotPositiveDefiniteError as error:
            return ProcessIterate(with_more_jitter(state, error))
        return ProcessIterate(_with_evidence_per_row(task, there) if process_of(there).phase == "functions" else there)


MAX_JITTER = 1e-3
"""The largest jitter that is tried."""

JITTER_FACTOR = 10.0
"""The factor of jitter, and before functions are chosen of the noise variance, from one attempt to the next."""


def with_more_jitter(state: State, error: NotPositiveDefiniteError) -> State:
    """The state from which a phase is retried after an error, the last phase where the fit had ended.

    Raises the error where there is no process, or at MAX_JITTER.
    """
    process = state.process
    if process is None:
        raise error
    h = process.hyperparameters
    jitter = JITTER_FACTOR * (JITTER if h.jitter is None else h.jitter)
    if jitter > MAX_JITTER * (1.0 + 1e-9):
        raise error
    beta = h.beta / JITTER_FACTOR if process.phase == "functions" else h.beta
    again = replace(state, iteration=state.iteration + 1, termination=None)
    return with_hyperparameters(again, replace(h, beta=beta, jitter=jitter))


def _centres(task: ProcessTask, state: State) -> Array:
    """The centres of the functions (m, d), at their rows or where they were optimised to, in the units of the
    inputs."""
    process, vectors = process_of(state), task.vectors(state)
    if process.moved is None:
        return vectors.X
    input_map = process.hyperparameters.input_map
    return input_map.inverse(process.moved / input_map.widths)


def _with_evidence_per_row(task: ProcessTask, state: State) -> State:
    """With the evidence per row of the full process on the rows of its scales, before it is approximated."""
    rows, problem = task.rows_for_scales(state), task.problem
    value = state.objective / len(rows.t) + problem.log_jacobian / problem.rows
    return replace(state, process=replace(process_of(state), evidence_per_row=value))


BEFORE_FUNCTIONS = frozenset({"scales", "terms", "functions"})
"""Phases at whose end the objective is that of the full process."""


@dataclass(frozen=True, eq=False)
class Nearest:
    """For each of m points the nearest row: its number (m,) and squared distance (m,).

    A sum has the nearer of both, the earlier row of equal distances.
    """

    rows: Indices
    squares: Array

    def __add__(self, other: Self, /) -> "Nearest":
        nearer = other.squares < self.squares
        return Nearest(np.where(nearer, other.rows, self.rows), np.where(nearer, other.squares, self.squares))


@dataclass(frozen=True, eq=False)
class FindNearest:
    """The reduction to the rows nearest to `points` (m, d) under an input map."""

    input_map: InputMap
    points: Array

    def __call__(self, block: RowBlock, /) -> Nearest:
        squares = squared_distances(self.points, self.input_map(block.X))
        places = squares.argmin(axis=1)
        return Nearest(block.first + places, squares[np.arange(len(places)), places])


@dataclass(frozen=True, eq=False)
class ProcessIterate(Iterate):
    """The iterate of a Gaussian process; the last has the sums over all rows, or the optimum there, as its `end`."""

    end: RowSums | Optimum | None = None

    def kept(self, problem: Problem) -> KeptFunctions:
        """The posterior on all rows, in the weights of the functions themselves.

        alpha are the precisions of their marginal priors, gamma = 1 - posterior over prior variance. An optimised
        inducing point is listed with the row nearest to it under the kernel.
        """
        task, process = ProcessTask.of(problem), process_of(self.state)
        h, vectors = process.hyperparameters, task.vectors(self.state)
        posterior, likelihood = task.posterior(self.state, self.end)
        F, R = len(h.alpha), len(posterior.mean)
        V = vectors.mapped(h)
        unwhitened = np.eye(R)
        kernel = h.covariance(task.kernel)
        unwhitened[F:, F:] = Whitening.of(kernel(V, V), jitter=h.jitter).weights(np.eye(R - F))
        unwhitened = np.roll(unwhitened, R - F, axis=0)
        covariance = unwhitened @ posterior.covariance @ unwhitened.T
        covariance = 0.5 * (covariance + covariance.T)
        prior = np.square(unwhitened) @ (1.0 / posterior.alpha)
        centres = _centres(task, self.state)
        rows = vectors.rows if process.moved is None else problem.source.reduce(FindNearest(h.input_map, V)).rows
        functions = (KernelFunctions(kernel, h.input_map, centres, rows), *task.fixed(self.state))
        mean = unwhitened @ posterior.mean
        mean[[isinstance(one, ConstantFunction) for one in functions for _ in range(one.size)]] += problem.centre
        return KeptFunctions(
            functions=functions,
            mean=mean,
            covariance=covariance,
            alpha=1.0 / prior,
            gamma=1.0 - covariance.diagonal() / prior,
            signal_variance=h.signal_variance,
            jitter=h.jitter,
            last_gain=process.last_gain,
            next_gain=process.next_gain,
            likelihood=likelihood,
        )

    def log_evidence(self, problem: Problem) -> Evidence:
        """The bound through the functions in the model, on all rows; before these are chosen, that of the full
        process."""
        task, process = ProcessTask.of(problem), process_of(self.state)
        h, value = process.hyperparameters, self.state.objective + problem.log_jacobian
        if self.state.termination is None:  # before the end the objective includes the log prior
            value -= task.space.log_prior(h)[0]
        whole = process.phase in BEFORE_FUNCTIONS and problem.likelihood.is_conjugate
        exact = whole or task.prior.rho == 1.0
        return Evidence(value, "exact" if exact else "lower_bound", task.space.log_density(h), 0.0)

    def integral(self, problem: Problem) -> Integral:
        """Over all hyperparameters except the inducing points."""
        return integral(ProcessTask.of(problem), self.state, process_of(self.state))

    @property
    def evidence_per_row(self) -> float | None:
        """Of the full process on the rows that its scales were learned on."""
        return process_of(self.state).evidence_per_row
