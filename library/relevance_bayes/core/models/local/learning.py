"""Learning the scales of a nearest-neighbour process, kernel by kernel, in steps from state to state [THEORY 22].

For each kernel a few iterations from every start on few targets, then more from the best on more targets; the kernel of
the greatest log score on held-out rows continues with more neighbours. Each step searches for neighbours at its initial
scales.

The validation of a nearest-neighbour process against simpler models on held-out rows [THEORY 22].
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, log
from typing import Literal

import numpy as np

from relevance_bayes.core.algorithms.hyperparameter_space import (
    CAUTIOUS_SIGNAL_TO_NOISE,
    MAX_SIGNAL_TO_NOISE,
    HyperparameterSpace,
    maximise,
)
from relevance_bayes.core.algorithms.task import RISE, ProcessTask
from relevance_bayes.core.errors import DataError, IllegalCombinationError, NotPositiveDefiniteError
from relevance_bayes.core.folds import content_keys
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.inference.process import ProcessRows
from relevance_bayes.core.kernels.hyperparameters import Hyperparameters
from relevance_bayes.core.kernels.radial import Radial
from relevance_bayes.core.models.local.likelihood import Conditionals, NeighbourLikelihood
from relevance_bayes.core.models.local.model import LocalProcess
from relevance_bayes.core.models.local.neighbours import (
    KERNELS,
    MIN_ROWS,
    LocalKernel,
    Neighbourhoods,
    NeighbourSearch,
    earlier,
)
from relevance_bayes.core.types import Array, Indices

HELD_OUT_SHARE, MAX_HELD_OUT = 0.2, 1_000
"""The share of the rows that is held out for scores, and the most rows."""


def n_apart(rows: int) -> int:
    """The number of held-out rows of so many."""
    return min(int(HELD_OUT_SHARE * rows), MAX_HELD_OUT)


@dataclass(frozen=True)
class Stage:
    """The numbers of targets, of neighbours of each, and of iterations."""

    targets: int
    neighbours: int
    iterations: int


@dataclass(frozen=True)
class Stages:
    """The stages of each `start`, of the best start of each kernel (`kernel`), and of the `best` kernel.

    On kin40k 64 neighbours instead of 32 in the last stage lowered the negative log density by .13 nats a row, and 64
    in the earlier ones changed nothing.
    """

    start: Stage = Stage(500, 32, 15)
    kernel: Stage = Stage(1_000, 32, 20)
    best: Stage = Stage(2_000, 64, 25)


@dataclass(frozen=True, eq=False)
class ScoredKernel:
    """A kernel with hyperparameters, and the mean log density of held-out rows, in nats a row."""

    kernel: LocalKernel
    hyperparameters: Hyperparameters
    score: float


@dataclass(frozen=True, eq=False)
class LocalState:
    """The state of learning after `completed` steps, from which it can be resumed.

    `start` is the best start of the current kernel and `reached` its objective; `scored` has each completed kernel, and
    `found` is the best of them after the last stage, None before.
    """

    completed: int = 0
    start: Hyperparameters | None = None
    reached: float = -inf
    scored: tuple[ScoredKernel, ...] = ()
    found: ScoredKernel | None = None


@dataclass(frozen=True, eq=False)
class LocalTask:
    """A problem of Gaussian noise under a Gaussian process prior, for nearest-neighbour processes.

    `neighbours` is the number for predictions; each stage has its own. `apart` are the held-out rows, None for a sample
    by content. `threads` share the targets of a step, without changing a bit.
    """

    problem: Problem
    kernels: tuple[LocalKernel, ...] = KERNELS
    neighbours: int = 256
    stages: Stages = Stages()
    threads: int = 1
    apart: Indices | None = None

    def __post_init__(self) -> None:
        if not self.problem.likelihood.is_conjugate or self.problem.t.ndim != 1:
            raise IllegalCombinationError("local", "expected one target a row with Gaussian noise")
        if self.problem.learning.additive:
            raise IllegalCombinationError("local", "expected no terms of single inputs beside neighbours")
        if self.problem.rows < MIN_ROWS:
            raise DataError(f"expected at least {MIN_ROWS} rows to learn from by neighbours, got {self.problem.rows}")
        if self.learned < MIN_ROWS // 2:
            raise DataError(f"expected at least {MIN_ROWS // 2} rows beside those kept apart, got {self.learned}")

    @cached_property
    def order(self) -> Indices:
        """All rows (N,) in the order of the approximation, which depends on their content; the held-out rows are last.

        Rows of equal inputs are in the order of their targets, which does not depend on the targets' unit.
        """
        keys = self.problem.t, content_keys(self.problem.X, self.problem.seed)
        if self.apart is None:
            return np.lexsort(keys)
        is_apart = np.zeros(self.problem.rows, np.bool_)
        is_apart[self.apart] = True
        return np.lexsort((*keys, is_apart))

    @cached_property
    def fixed(self) -> tuple[int, ...]:
        """Candidates without kernel, all in the model."""
        return self.space(self.kernels[0]).fixed_numbers()

    @cached_property
    def rows(self) -> ProcessRows:
        """All rows, in that order."""
        X, precisions = self.problem.X[self.order], self.problem.precisions
        of_rows = None if precisions is None else precisions[self.order]
        return ProcessRows(X, self.problem.t[self.order], self.problem.candidates.columns(X, self.fixed), of_rows)

    @property
    def learned(self) -> int:
        """The number of training rows, the first in order; the others are held out."""
        apart = n_apart(self.problem.rows) if self.apart is None else len(self.apart)
        return self.problem.rows - apart

    @property
    def kept_apart(self) -> Indices:
        """The held-out rows (n,), by their numbers in order."""
        return np.arange(self.learned, self.problem.rows)

    def space(self, kernel: LocalKernel) -> HyperparameterSpace:
        """The starts, bounds and priors of the hyperparameters under a kernel."""
        return HyperparameterSpace(self.problem, ProcessTask.of(self.problem).functions, kernel)

    @property
    def starts(self) -> int:
        """The number of starts of each kernel."""
        return max(self.space(self.kernels[0]).starts, 1)

    @property
    def steps(self) -> int:
        """The number of steps of learning."""
        return len(self.kernels) * (self.starts + 1) + 1

    def maximise(
        self, kernel: LocalKernel, h: Hyperparameters, stage: Stage, cap: float
    ) -> tuple[Hyperparameters, float]:
        """The best hyperparameters near some, and the log likelihood of the stage's targets plus the log prior
        there."""
        targets = np.unique(np.linspace(0, self.learned - 1, stage.targets).astype(np.intp))
        neighbourhoods = earlier(h.input_map(self.rows.X[: self.learned]), targets, stage.neighbours)
        likelihood = NeighbourLikelihood.of(self.rows, kernel, neighbourhoods, self.threads)
        space = self.space(kernel)

        def objective(theta: Array) -> tuple[float, Array]:
            tried = h.unpacked(theta)
            value, gradient = likelihood.gradient(tried)
            prior, slope = space.log_prior(tried)
            return value + prior, gradient + slope

        theta, value = maximise(
            objective,
            h.packed(),
            space.free(h),
            space.box(h, cap),
            stage.iterations,
            origin=-0.5 * len(targets) * log(self.problem.square),
            flat=RISE / len(targets),
            ties=space.ties(h),
        )
        return h.unpacked(theta), value

    def held_out(self, kernel: Radial, h: Hyperparameters, neighbours: int) -> Conditionals:
        """Of the rows kept apart, each by its nearest rows of other inputs among those learned from."""
        U = h.input_map(self.rows.X)
        found = NeighbourSearch(U[: self.learned]).elsewhere(U[self.learned :], neighbours)
        neighbourhoods = Neighbourhoods(self.kept_apart, found)
        return NeighbourLikelihood.of(self.rows, kernel, neighbourhoods, self.threads).conditionals(h)

    def score(self, kernel: LocalKernel, h: Hyperparameters) -> ScoredKernel:
        """By the rows kept apart; the score is -inf where covariances are not positive definite."""
        try:
            found = self.held_out(kernel, h, self.stages.best.neighbours)
        except NotPositiveDefiniteError:
            return ScoredKernel(kernel, h, -inf)
        return ScoredKernel(kernel, h, float(found.bounded_log_density.mean()))


def advance(task: LocalTask, state: LocalState) -> LocalState:
    """The state after one more step."""
    number, start = divmod(state.completed, task.starts + 1)
    after = replace(state, completed=state.completed + 1)
    if number == len(task.kernels):
        best = max(state.scored, key=lambda one: one.score)
        h, _ = task.maximise(best.kernel, best.hyperparameters, task.stages.best, MAX_SIGNAL_TO_NOISE)
        further = task.score(best.kernel, h)
        return replace(after, found=further if further.score >= best.score else best)
    kernel = task.kernels[number]
    if start < task.starts:
        h, reached = task.maximise(kernel, task.space(kernel).start(start), task.stages.start, CAUTIOUS_SIGNAL_TO_NOISE)
        return replace(after, start=h, reached=reached) if reached > state.reached or start == 0 else after
    if state.start is None:
        raise DataError("expected a start from which the process has a likelihood")
    h, _ = task.maximise(kernel, state.start, task.stages.kernel, MAX_SIGNAL_TO_NOISE)
    return replace(after, start=None, reached=-inf, scored=(*state.scored, task.score(kernel, h)))


def learn(task: LocalTask, state: LocalState | None = None) -> Iterator[LocalState]:
    """The states of learning, from the one given to that which has `found`."""
    now = LocalState() if state is None else state
    while now.found is None:
        now = advance(task, now)
        yield now


def local_process(task: LocalTask, kernel: LocalKernel, h: Hyperparameters) -> LocalProcess:
    """The process of all rows of a task, those kept apart too."""
    functions, _ = task.problem.candidates.take(task.fixed)
    return LocalProcess(kernel, h, task.rows, functions, task.neighbours, float(task.problem.centre))


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
    done = list[ScoredKernel]()
    for _ in range(int(scored + found)):
        kernel, score = numbers[place : place + 2].tolist()
        h = like.unpacked(numbers[place + 2 : place + 2 + size])
        done.append(ScoredKernel(task.kernels[int(kernel)], h, score))
        place += 2 + size
    end = done.pop() if found else None
    return LocalState(int(completed), start, reached, tuple(done), end)


Refusal = Literal["no better than a linear model", "no better than noise", "predicted variances do not hold"]

MAX_FACTOR = 3.0
"""The largest ratio of mean squared error and predicted variance, either way: beyond it the scales are wrong, and one
factor does not correct them."""

NORMAL_95 = 1.959963984540054
"""Standard deviations on either side that hold 95 % of a normal distribution."""


@dataclass(frozen=True, eq=False)
class ValidatedProcess:
    """A process measured on held-out rows: their predictions `predicted` in the task's order, and the
    `hyperparameters`.

    `linear` and `noise` are the mean log densities, in nats a row, of a linear model and of noise alone.
    `variance_factor` is the mean of squared errors over predicted variances, by which these were multiplied where the
    noise is learned. `refusal` is None where the process may be used: it scores better than both by more than the
    standard error of the difference, and the factor is near 1.
    """

    predicted: Conditionals
    hyperparameters: Hyperparameters
    linear: float
    noise: float
    variance_factor: float
    refusal: Refusal | None

    @property
    def rows(self) -> int:
        """The number of held-out rows."""
        return len(self.predicted.t)

    @property
    def score(self) -> float:
        """The mean log density of the process."""
        return float(self.predicted.bounded_log_density.mean())

    @property
    def coverage(self) -> float:
        """The share of the targets in their intervals of 95 %."""
        return float(np.mean(self.predicted.squares <= NORMAL_95**2))


def validated(task: LocalTask, found: ScoredKernel) -> ValidatedProcess:
    """Measure a process on the held-out rows, with its variances multiplied by the factor of the best score there.

    The factor is the same for signal, columns and noise, so that means do not change; where the noise is known, it is
    reported but not applied.
    """
    h = found.hyperparameters
    held_out = task.held_out(found.kernel, h, task.neighbours)
    factor = float(held_out.squares.mean())
    applied = factor if task.space(found.kernel).free(h)[0] else 1.0
    held_out = replace(held_out, variance=applied * held_out.variance)
    h = replace(h, beta=h.beta / applied, signal_variance=h.signal_variance * applied, alpha=h.alpha / applied)
    own, linear, noise = held_out.bounded_log_density, _linear(task, task.rows.X), _linear(task, task.rows.X[:, :0])
    refusal: Refusal | None = None
    if not _is_better(own, noise):
        refusal = "no better than noise"
    elif not _is_better(own, linear):
        refusal = "no better than a linear model"
    elif not 1.0 / MAX_FACTOR <= factor <= MAX_FACTOR:
        refusal = "predicted variances do not hold"
    return ValidatedProcess(held_out, h, float(linear.mean()), float(noise.mean()), factor, refusal)


def _is_better(own: Array, other: Array) -> bool:
    """True where the mean of log densities (n,) is above that of others by more than the difference's standard
    error."""
    gain = own - other
    return bool(gain.mean() > gain.std() / np.sqrt(len(gain)))


def _linear(task: LocalTask, X: Array) -> Array:
    """Bounded log densities of the held-out rows, by least squares in X (N, k) and a constant, of normal errors."""
    n, t = task.learned, task.rows.t
    P = np.column_stack([np.ones(len(X)), X])
    w, _, _, _ = np.linalg.lstsq(P[:n], t[:n], rcond=None)
    mean = P @ w
    variance = max(float(np.mean(np.square(t[:n] - mean[:n]))), np.finfo(np.float64).tiny)
    return Conditionals(t[n:], mean[n:], np.full(len(t) - n, variance)).bounded_log_density
