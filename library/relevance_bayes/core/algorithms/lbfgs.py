"""L-BFGS with bounds, from a start to the best that it evaluates."""

from collections.abc import Callable
from math import inf

import numpy as np
import scipy

from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.core.types import Array, Indices, Mask

MAX_CORRECTIONS = 20
"""Pairs of steps and gradients that approximate the curvature."""

MAX_TRIALS = 20
"""Evaluations in one line search."""

NOT_COMPUTABLE = 1e10
"""The objective for L-BFGS where a matrix has lost its positive definiteness."""

Objective = Callable[[Array], tuple[float, Array]]
"""From a vector (n,) to the objective, and its gradient (n,)."""


def maximise(
    objective: Objective,
    start: Array,
    free: Mask,
    box: tuple[Array, Array],
    iterations: int,
    *,
    origin: float = 0.0,
    flat: float = 1e-5,
    ties: Indices | None = None,
    units: Array | None = None,
) -> tuple[Array, float]:
    """The best point that L-BFGS evaluates, and the objective there; never below the start.

    It ends where a step raises the objective by less than the share `flat` of its size, measured from `origin`, so that
    its units don't matter. `ties` (n,) has for each entry the index of the entry whose value it takes: its own, or the
    first of those that are equal. `units` (n,), all 1 by default: L-BFGS sees each entry over its unit, so that entries
    along which the objective hardly bends move as fast as the others.
    """
    leaders = np.arange(len(start)) if ties is None else ties
    free = free & (leaders == np.arange(len(start)))
    best, value = start, -inf
    unit = np.ones(int(free.sum())) if units is None else units[free]

    def falling(moving: Array) -> tuple[float, Array]:
        nonlocal best, value
        tried = start.copy()
        tried[free] = unit * moving
        tried = tried[leaders]
        try:
            reached, gradient = objective(tried)
        except NotPositiveDefiniteError:
            return NOT_COMPUTABLE, np.zeros(len(moving))
        if reached > value:
            best, value = tried, reached
        return origin - reached, -unit * _summed(gradient, leaders)[free]

    inside = np.clip(start, *box)
    scipy.optimize.minimize(
        falling,
        inside[free] / unit,
        jac=True,
        method="L-BFGS-B",
        bounds=scipy.optimize.Bounds(box[0][free] / unit, box[1][free] / unit),
        options={"maxiter": iterations, "maxcor": MAX_CORRECTIONS, "ftol": flat, "maxls": MAX_TRIALS},
    )
    return best, value


def _summed(gradient: Array, leaders: Indices) -> Array:
    """The gradient (n,), summed over tied entries at the first of them."""
    summed = np.zeros(len(gradient))
    np.add.at(summed, leaders, gradient)
    return summed
