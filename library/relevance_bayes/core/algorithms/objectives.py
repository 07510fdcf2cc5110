"""The objectives that the phases of a Gaussian process maximise, as functions of the packed hyperparameters."""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from relevance_bayes.core.algorithms.lbfgs import Objective
from relevance_bayes.core.algorithms.state import State
from relevance_bayes.core.algorithms.task import MAX_PIVOTS, Task, process_of
from relevance_bayes.core.hyperparameters import Hyperparameters
from relevance_bayes.core.problem import Problem
from relevance_bayes.core.process import Rows, Vectors, bound_gradient, exact
from relevance_bayes.core.process_gradient import summed_bound
from relevance_bayes.core.process_sums import RowSums
from relevance_bayes.core.types import Array
from relevance_bayes.core.variational import Optimum


def with_hyperparameters(state: State, h: Hyperparameters) -> State:
    """The state at other hyperparameters."""
    return replace(state, alpha=h.alpha, beta=h.beta, process=replace(process_of(state), hyperparameters=h))


class Evaluate(Protocol):
    """L at some rows with its gradient, for hyperparameters and inducing points."""

    def __call__(self, vectors: Vectors, h: Hyperparameters, /) -> tuple[float, Array, Array | None]:
        """L, dL/dtheta, and dL/dmoved (m, d) where the vectors move; raises NotPositiveDefiniteError."""


@dataclass(eq=False)
class AtOnce:
    """L from the columns at all the rows, each time from the sites of the last evaluation."""

    task: Task
    rows: Rows
    near: Optimum | None = None

    def __call__(self, vectors: Vectors, h: Hyperparameters, /) -> tuple[float, Array, Array | None]:
        found = self.task.bound(self.rows, vectors, h, self.near)
        self.near = found.optimum
        return found.value, *bound_gradient(self.rows, vectors, self.task.kernel, h, found)


@dataclass(eq=False)
class InBlocks:
    """L by sums over the blocks of a problem's rows, each time from the last mean, at first from `origin`."""

    task: Task
    problem: Problem
    fixed: tuple[int, ...]
    origin: Array

    def __call__(self, vectors: Vectors, h: Hyperparameters, /) -> tuple[float, Array, Array | None]:
        kernel = self.task.kernel
        reached, slope, places = summed_bound(self.problem, self.fixed, vectors, kernel, h, self.origin)
        self.origin = reached.posterior.mean
        return reached.value, slope, places


def of_process(task: Task, rows: Rows, like: Hyperparameters, pivots: int = MAX_PIVOTS) -> Objective:
    """The objective of the full process on few rows, or through `pivots` functions without a closed form."""
    vectors, through = task.spread(rows, pivots), AtOnce(task, rows)

    def objective(theta: Array) -> tuple[float, Array]:
        h = like.unpacked(theta)
        prior, slope = task.space.log_prior(h)
        if vectors is None:
            value, gradient, _ = exact(rows, task.kernel, h)
        else:
            value, gradient, _ = through(vectors, h)
        return value + prior, gradient + slope

    return objective


def of_bound(task: Task, state: State, some: Rows | Problem, like: Hyperparameters) -> Objective:
    """The objective of the sparse process in theta and the optimised inducing points; `some` as in `Task.together`."""
    own, n = task.vectors(state), len(like.packed())
    through: Evaluate
    if isinstance(some, Rows):
        through = AtOnce(task, some)
    else:
        through = InBlocks(task, some, state.active[: len(state.alpha)], task.near(some, state, like))

    def objective(joined: Array) -> tuple[float, Array]:
        h = like.unpacked(joined[:n])
        vectors = own if own.moved is None else replace(own, moved=joined[n:].reshape(own.moved.shape))
        value, gradient, places = through(vectors, h)
        prior, slope = task.space.log_prior(h)
        whole = gradient + slope if places is None else np.append(gradient + slope, places)
        return value + prior, whole

    return objective


def with_head(h: Hyperparameters, head: Array) -> Hyperparameters:
    """With other values of those that the kernel's columns don't depend on: `head` (2 + F,) = [log beta, log s, log
    alpha]."""
    return replace(h, beta=float(np.exp(head[0])), signal_variance=float(np.exp(head[1])), alpha=np.exp(head[2:]))


def of_sums(sums: RowSums, h: Hyperparameters) -> Objective:
    """The objective of summed rows, in [log beta, log s, log alpha]."""

    def objective(head: Array) -> tuple[float, Array]:
        found = sums.at(with_head(h, head))
        return found.value, found.gradient

    return objective
