"""Few functions of a Gaussian process: scales by evidence, functions by what they gain, then everything together."""

from dataclasses import dataclass, replace
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
from relevance_bayes.core.integrated import Integral
from relevance_bayes.core.linalg import squared_distances
from relevance_bayes.core.marginal import LogEvidence
from relevance_bayes.core.priors.gaussian_process import JITTER, Whitening
from relevance_bayes.core.problem import Problem
from relevance_bayes.core.process_sums import RowSums
from relevance_bayes.core.row_source import RowBlock
from relevance_bayes.core.scales import InputMap
from relevance_bayes.core.types import Array, Indices


@dataclass(frozen=True)
class Greedy:
    """The algorithm of a Gaussian process prior.

    Its objective is L with the log prior of the hyperparameters: of the process on few rows while scales are learned,
    then the bound on those it is computed on. It never falls within a phase.
    """

    __pydantic_config__ = {"extra": "forbid"}
    has_full_passes: ClassVar[bool] = False
    """True where a step goes over all rows and candidates."""

    type: Literal["greedy"] = "greedy"

    def init(self, problem: Problem) -> "ProcessIterate":
        """No function yet, the first start."""
        task = Task.of(problem)
        first = task.space.start(0)
        fixed = task.space.fixed_numbers()
        state = State(fixed, first.alpha, first.beta, np.empty(0), 0, -inf, process=Process("scales", first))
        return ProcessIterate(state)

    def rebuild(self, problem: Problem, state: State) -> "ProcessIterate":
        """The state itself: what may be kept beside it is the same to the bit when it is made anew."""
        return ProcessIterate(state)

    def step(self, problem: Problem, now: Iterate) -> "ProcessIterate":
        """One burst of the phase that the state is in, or the same state with more jitter where rounding forbids it."""
        task, state = Task.of(problem), now.state
        process = process_of(state)
        try:
            if process.phase == "rows":
                ended, sums = on_all_rows(task, state, process)
                return ProcessIterate(replace(ended, iteration=state.iteration + 1), sums)
            there = replace(STEPS[process.phase](task, state, process), iteration=state.iteration + 1)
        except NotPositiveDefiniteError as error:
            return ProcessIterate(with_more_jitter(state, error))
        return ProcessIterate(_promising(task, there) if process_of(there).phase == "functions" else there)


MAX_JITTER = 1e-3
"""A step that can't be computed with this much fails."""

MORE = 10.0
"""The factor of jitter, and of the noise variance before there are functions, from one attempt to the next."""


def with_more_jitter(state: State, error: NotPositiveDefiniteError) -> State:
    """The state from which a phase is attempted again after an error, the last one where the fit had ended.

    Raises the error where there is no process, or its jitter is at its most.
    """
    process = state.process
    if process is None:
        raise error
    h = process.hyperparameters
    jitter = MORE * (JITTER if h.jitter is None else h.jitter)
    if jitter > MAX_JITTER * (1.0 + 1e-9):
        raise error
    beta = h.beta / MORE if process.phase == "functions" else h.beta
    again = replace(state, iteration=state.iteration + 1, termination=None)
    return with_hyperparameters(again, replace(h, beta=beta, jitter=jitter))


def _centres(task: Task, state: State) -> Array:
    """Where the functions stand, (m, d): on their rows, or where they moved to, in the units of the inputs."""
    process, vectors = process_of(state), task.vectors(state)
    if process.moved is None:
        return vectors.X
    input_map = process.hyperparameters.input_map
    return input_map.inverse(process.moved / input_map.widths)


def _promising(task: Task, state: State) -> State:
    """With what the process is worth on the rows that its scales were learned on, before functions take its place."""
    rows, problem = task.rows_for_scales(state), task.problem
    worth = state.objective / len(rows.t) + problem.log_jacobian / problem.rows
    return replace(state, process=replace(process_of(state), evidence_per_row=worth))


BEFORE_FUNCTIONS = frozenset({"scales", "terms", "functions"})
"""Phases at whose end the objective is still that of the process itself."""


@dataclass(frozen=True, eq=False)
class Nearest:
    """For each of some points the nearest of some rows: its number (m,) and squared distance (m,).

    A sum has the nearest of both parts, of equally near ones the earlier.
    """

    rows: Indices
    squares: Array

    def __add__(self, other: Self, /) -> "Nearest":
        nearer = other.squares < self.squares
        return Nearest(np.where(nearer, other.rows, self.rows), np.where(nearer, other.squares, self.squares))


@dataclass(frozen=True, eq=False)
class FindNearest:
    """The reduction to the rows that an input map puts nearest to `points` (m, d)."""

    input_map: InputMap
    points: Array

    def __call__(self, block: RowBlock, /) -> Nearest:
        squares = squared_distances(self.points, self.input_map(block.X))
        places = squares.argmin(axis=1)
        return Nearest(block.first + places, squares[np.arange(len(places)), places])


@dataclass(frozen=True, eq=False)
class ProcessIterate(Iterate):
    """Under a Gaussian process prior all is in the state; `sums` over all rows are kept where a step has made them."""

    sums: RowSums | None = None

    def kept(self, problem: Problem) -> Kept:
        """The posterior on all rows, in the weights of the functions themselves.

        alpha are the precisions of their marginal priors, gamma = 1 - posterior over prior variance. A vector that
        moved stands on the row that the kernel sees nearest to where it is now.
        """
        task, process = Task.of(problem), process_of(self.state)
        h, vectors = process.hyperparameters, task.vectors(self.state)
        posterior, likelihood = task.posterior(self.state, self.sums)
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
        """The bound through the functions in the model, on all rows; before these are chosen, of the process itself."""
        task, process = Task.of(problem), process_of(self.state)
        h, value = process.hyperparameters, self.state.objective + problem.log_jacobian
        if self.state.termination is None:  # on the way the objective has the log prior in it
            value -= task.space.log_prior(h)[0]
        whole = process.phase in BEFORE_FUNCTIONS and problem.likelihood.conjugate
        exact = whole or task.prior.rho == 1.0
        return LogEvidence(value, "exact" if exact else "lower_bound", task.space.log_density(h))

    def integral(self, problem: Problem) -> Integral:
        """Over all that is learned but the places of the vectors."""
        return integral(Task.of(problem), self.state, process_of(self.state))

    @property
    def evidence_per_row(self) -> float | None:
        """Of the process on the rows that its scales were learned on."""
        return process_of(self.state).evidence_per_row
