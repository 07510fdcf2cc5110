"""What the phases of a Gaussian process climb, in the packed hyperparameters."""

from dataclasses import dataclass, replace

import numpy as np

from app.sparse_bayes.algorithms.burst import Objective
from app.sparse_bayes.algorithms.state import State
from app.sparse_bayes.algorithms.task import MOST_PIVOTS, Task, process_of
from app.sparse_bayes.hyperparameters import Hyperparameters
from app.sparse_bayes.process import Bound, Rows, Vectors, bound_gradient, exact
from app.sparse_bayes.types import Array
from app.sparse_bayes.variational import Settled


def with_hyperparameters(state: State, h: Hyperparameters) -> State:
    """The state at other hyperparameters."""
    return replace(state, alpha=h.alpha, beta=h.beta, process=replace(process_of(state), hyperparameters=h))


@dataclass(eq=False)
class Bounded:
    """L of functions at some rows, each time from where the sites settled before; and how often it was computed."""

    task: Task
    rows: Rows
    near: Settled | None = None
    evaluations: int = 0

    def __call__(self, vectors: Vectors, h: Hyperparameters) -> Bound:
        """L at hyperparameters and places of the functions; raises NotPositiveDefiniteError."""
        self.evaluations += 1
        found = self.task.bound(self.rows, vectors, h, self.near)
        self.near = found.settled
        return found


def of_process(task: Task, rows: Rows, like: Hyperparameters, pivots: int = MOST_PIVOTS) -> Objective:
    """Of the process itself on few rows, or through `pivots` functions where its evidence has no closed form."""
    vectors, through = task.spread(rows, pivots), Bounded(task, rows)

    def objective(theta: Array) -> tuple[float, Array]:
        h = like.unpacked(theta)
        prior, slope = task.log_prior(h)
        if vectors is None:
            value, gradient, _ = exact(rows, task.kernel, h)
        else:
            found = through(vectors, h)
            value, (gradient, _) = found.value, bound_gradient(rows, vectors, task.kernel, h, found)
        return value + prior, gradient + slope

    return objective


def of_bound(task: Task, state: State, rows: Rows, like: Hyperparameters) -> Objective:
    """Of the functions chosen, theta and the places of the vectors that move."""
    own, n, through = task.vectors(state), len(like.packed()), Bounded(task, rows)

    def objective(joined: Array) -> tuple[float, Array]:
        h = like.unpacked(joined[:n])
        vectors = own if own.moved is None else replace(own, moved=joined[n:].reshape(own.moved.shape))
        found = through(vectors, h)
        gradient, places = bound_gradient(rows, vectors, task.kernel, h, found)
        prior, slope = task.log_prior(h)
        whole = gradient + slope if places is None else np.append(gradient + slope, places)
        return found.value + prior, whole

    return objective
