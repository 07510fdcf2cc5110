"""A pool of processes for one target: scales by exact evidence, weights by folds, functions at a stated price.

Each member is a Gaussian process with its own kernel and input map, learned through as many functions as there are
rows. Their densities are pooled with weights that predict the folds best. Then each is reduced to functions on rows,
as few as lose no more than `max_score_loss` nats a row of the pool's fold score.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.sparse_bayes.algorithms.state import State
from app.sparse_bayes.algorithms.task import Task, process_of
from app.sparse_bayes.choice import Chosen, choose
from app.sparse_bayes.errors import NotPositiveDefiniteError
from app.sparse_bayes.hyperparameters import Hyperparameters
from app.sparse_bayes.pooling.densities import Densities
from app.sparse_bayes.pooling.folds import Reduced, whole_process
from app.sparse_bayes.priors.gaussian_process import JITTER
from app.sparse_bayes.problem import Problem
from app.sparse_bayes.types import Indices

MIN_JITTER = 1e-8
JITTER_OF_NOISE = 0.01
"""The jitter is at most this share of the noise variance over the process's: more would be noise of its own."""

MIN_GAIN = 0.03
"""Nats that the last function of a member brings before any is left out to save cost."""

MAX_FUNCTIONS = 512


@dataclass(frozen=True, eq=False)
class Whole:
    """A member before its reduction: its problem, the state at which its scales were learned, and the rows for them."""

    problem: Problem
    state: State

    @property
    def task(self) -> Task:
        """The problem as the algorithm of a process sees it."""
        return Task.of(self.problem)

    @property
    def hyperparameters(self) -> Hyperparameters:
        """Those that were learned."""
        return process_of(self.state).hyperparameters

    @property
    def evidence(self) -> float:
        """Its log marginal likelihood on those rows with the log hyperprior, in nats."""
        return self.state.objective


def fold_densities(members: Sequence[Whole], folds: Sequence[Indices]) -> Densities:
    """How each member predicts each fold of the rows of its scales from the other folds."""
    found = []
    for member in members:
        task = member.task
        found.append(whole_process(task.rows_for_scales(member.state), task.kernel, member.hyperparameters, folds))
    means, variances = zip(*found, strict=True)
    return Densities(np.column_stack(means), np.column_stack(variances))


def jitter(h: Hyperparameters) -> float:
    """What to add to the diagonal of the kernel matrix of few functions: less than the noise, where that is little."""
    return min(JITTER, max(MIN_JITTER, JITTER_OF_NOISE / (h.beta * h.amplitude)))


@dataclass(frozen=True, eq=False)
class Ordered:
    """A member's functions in the order in which they gain most, and what the first of them tell of each fold."""

    whole: Whole
    chosen: Chosen
    reduced: Reduced

    @classmethod
    def of(cls, whole: Whole, folds: Sequence[Indices]) -> "Ordered":
        """All functions that gain MIN_GAIN, MAX_FUNCTIONS at most; fewer where rounding allows no more."""
        task, h = whole.task, whole.hyperparameters
        rows = task.rows_for_scales(whole.state)
        U = h.input_map(rows.X)
        chosen = choose(
            h.covariance(task.kernel)(U, U),
            amplitude=h.amplitude,
            gradient=rows.precision(h.beta) * rows.t,
            precision=np.array(np.broadcast_to(rows.precision(h.beta), len(rows.t))),
            fixed=rows.F,
            alpha=h.alpha,
            least=MIN_GAIN,
            most=MAX_FUNCTIONS,
            residue=min(1e-6, jitter(h)),
        )
        h = replace(h, jitter=jitter(h))
        while True:
            try:
                return cls(whole, chosen, Reduced.of(rows, chosen.places, task.kernel, h, folds))
            except NotPositiveDefiniteError:
                size = len(chosen.places) * 3 // 4
                chosen = Chosen(chosen.places[:size], chosen.gains[:size], float(chosen.gains[size]))

    def worth(self, gain: float) -> int:
        """How many functions stand before the first that brings less than `gain` nats."""
        below = np.flatnonzero(self.chosen.gains < gain)
        return int(below[0]) if len(below) else len(self.chosen.places)


def through(members: Sequence[Ordered], sizes: Sequence[int]) -> Densities:
    """Fold predictions through the first functions of each member."""
    found = [member.reduced.predicted(size) for member, size in zip(members, sizes, strict=True)]
    means, variances = zip(*found, strict=True)
    return Densities(np.column_stack(means), np.column_stack(variances))
