"""A sparse Gaussian process: scales by evidence, functions by their gain, then everything together."""

from dataclasses import dataclass, field, replace
from math import inf
from typing import ClassVar, Literal, Self

import numpy as np

from relevance_bayes.core.algorithms.objectives import with_hyperparameters
from relevance_bayes.core.algorithms.phases import STEPS, on_all_rows
from relevance_bayes.core.algorithms.process_integral import integral
from relevance_bayes.core.algorithms.state import Iterate, Kept, Process, State
from relevance_bayes.core.algorithms.task import Task, process_of
from relevance_bayes.core.basis import ConstantFunction, KernelFunctions
from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.core.integrated import Integral, LogEvidence
from relevance_bayes.core.linalg import squared_distances
from relevance_bayes.core.priors.gaussian_process import JITTER, Whitening
from relevance_bayes.core.problem import Problem
from relevance_bayes.core.process_sums import RowSums
from relevance_bayes.core.row_source import RowBlock
from relevance_bayes.core.scales import InputMap
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.core.variational import Optimum


@dataclass(frozen=True)
class Greedy:
    """The algorithm of a Gaussian process prior.

    Its objective is L with the log prior of the hyperparameters: of the full process on few rows while scales are
    learned, then the bound on the rows of the phase. It never falls within a phase.

    `max_iterations` of L-BFGS optimise hyperparameters and inducing points together, each time functions were added;
    None: as many as some 45 s of a core permit, from 15 to 120. A fit can't be resumed within them.
    """

    __pydantic_config__ = {"extra": "forbid"}
    has_full_passes: ClassVar[bool] = False
    """True where a step goes over all rows and candidates."""

    max_iterations: int | None = field(default=None, metadata={"ge": 1, "le": 10_000})
    type: Literal["greedy"] = "greedy"

    def init(self, problem: Problem) -> "ProcessIterate":
        """The first start, without inducing points."""
        task = Task.of(problem)
        first = task.space.start(0)
        fixed = task.space.fixed_numbers()
        state = State(fixed, first.alpha, first.beta, np.empty(0), 0, -inf, process=Process("scales", first))
        return ProcessIterate(state)

    def rebuild(self, problem: Problem, state: State) -> "ProcessIterate":
        """The iterate of the state alone: its `end` is the same to the bit when it is recomputed."""
        return ProcessIterate(state)

    def step(self, problem: Problem, now: Iterate) -> "ProcessIterate":
        """One step of the state's phase, or the same state with more jitter where a matrix is not positive definite."""
        task, state = Task.of(problem, self.max_iterations), now.state
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


def _centres(task: Task, state: State) -> Array:
    """The centres of the functions (m, d), at their rows or where they were optimised to, in the units of the
    inputs."""
    process, vectors = process_of(state), task.vectors(state)
    if process.moved is None:
        return vectors.X
    input_map = process.hyperparameters.input_map
    return input_map.inverse(process.moved / input_map.widths)


def _with_evidence_per_row(task: Task, state: State) -> State:
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

    def kept(self, problem: Problem) -> Kept:
        """The posterior on all rows, in the weights of the functions themselves.

        alpha are the precisions of their marginal priors, gamma = 1 - posterior over prior variance. An optimised
        inducing point is listed with the row nearest to it under the kernel.
        """
        task, process = Task.of(problem), process_of(self.state)
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
        return Kept(
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

    def log_evidence(self, problem: Problem) -> LogEvidence:
        """The bound through the functions in the model, on all rows; before these are chosen, that of the full
        process."""
        task, process = Task.of(problem), process_of(self.state)
        h, value = process.hyperparameters, self.state.objective + problem.log_jacobian
        if self.state.termination is None:  # before the end the objective includes the log prior
            value -= task.space.log_prior(h)[0]
        whole = process.phase in BEFORE_FUNCTIONS and problem.likelihood.is_conjugate
        exact = whole or task.prior.rho == 1.0
        return LogEvidence(value, "exact" if exact else "lower_bound", task.space.log_density(h))

    def integral(self, problem: Problem) -> Integral:
        """Over all hyperparameters except the inducing points."""
        return integral(Task.of(problem), self.state, process_of(self.state))

    @property
    def evidence_per_row(self) -> float | None:
        """Of the full process on the rows that its scales were learned on."""
        return process_of(self.state).evidence_per_row
