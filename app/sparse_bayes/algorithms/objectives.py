"""What the phases of a Gaussian process climb, in the packed hyperparameters."""

from dataclasses import replace

import numpy as np

from app.sparse_bayes.algorithms.burst import Objective
from app.sparse_bayes.algorithms.state import State
from app.sparse_bayes.algorithms.task import Task, process_of
from app.sparse_bayes.hyperparameters import Hyperparameters
from app.sparse_bayes.process import Rows, bound_gradient, exact
from app.sparse_bayes.types import Array


def with_hyperparameters(state: State, h: Hyperparameters) -> State:
    """The state at other hyperparameters."""
    return replace(state, alpha=h.alpha, beta=h.beta, process=replace(process_of(state), hyperparameters=h))


def of_process(task: Task, rows: Rows, like: Hyperparameters) -> Objective:
    """Of the process itself on few rows, or through many functions where its evidence has no closed form."""
    vectors = task.spread(rows)

    def objective(theta: Array) -> tuple[float, Array]:
        h = like.unpacked(theta)
        prior, slope = task.log_prior(h)
        if vectors is None:
            value, gradient, _ = exact(rows, task.kernel, h)
        else:
            found = task.bound(rows, vectors, h)
            value, (gradient, _) = found.value, bound_gradient(rows, vectors, task.kernel, h, found)
        return value + prior, gradient + slope

    return objective


def of_bound(task: Task, state: State, rows: Rows, like: Hyperparameters) -> Objective:
    """Of the functions chosen, theta and the places of the vectors that move."""
    own, n = task.vectors(state), len(like.packed())

    def objective(joined: Array) -> tuple[float, Array]:
        h = like.unpacked(joined[:n])
        vectors = own if own.moved is None else replace(own, moved=joined[n:].reshape(own.moved.shape))
        found = task.bound(rows, vectors, h)
        gradient, places = bound_gradient(rows, vectors, task.kernel, h, found)
        prior, slope = task.log_prior(h)
        whole = gradient + slope if places is None else np.append(gradient + slope, places)
        return found.value + prior, whole

    return objective
