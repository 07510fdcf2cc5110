"""Ascent by quasi-Newton steps: BFGS from an expected information, and L-BFGS.

[NOCEDAL2006] is Nocedal & Wright, Numerical optimization, 2nd edition.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Generic, Protocol, TypeVar

import numpy as np
import scipy

from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.core.linalg import cholesky, solve_with_cholesky
from relevance_bayes.core.types import Array, Indices, Mask

MAX_STEP = 2.0
"""The longest step of an entry, a logarithm or a warp: beyond it the quadratic model is not accurate."""

GROWTH = 2.0
"""After a step that had to be shortened, the next ones are at most so many times as long as the one before: otherwise
each is too long again, and half of the evaluations are in vain."""

MIN_SHARE, MAX_SHARE = 0.1, 0.5
"""The share of a step that is tried next where it does not raise the objective is within these bounds."""

MAX_TRIALS = 8
"""Evaluations along one step."""

STEPS_OF_CURVATURE = 2
"""Steps from one computation of the curvature to the next, where it is computed again."""

DAMPING = 0.2
"""Powell's damping: the least curvature along a step, as a share of that before [NOCEDAL2006, procedure 18.2]."""


class EvaluatedPoint(Protocol):
    """An objective at one point theta (p,)."""

    @property
    def theta(self) -> Array:
        """The point, (p,)."""

    @property
    def value(self) -> float:
        """The objective, in nats."""

    @property
    def gradient(self) -> Array:
        """Its gradient (p,), which may be formed when it is first read."""


E = TypeVar("E", bound=EvaluatedPoint)


@dataclass(frozen=True, eq=False)
class FreeEntries:
    """The entries of theta (p,) that are maximised: those that are `free`, within `low` and `high`.

    `ties` (p,) has for each entry the index of the entry whose value it takes: its own, or that of the first of those
    that are equal. The m free entries that are not tied to another one are the variables.
    """

    free: Mask
    ties: Indices
    low: Array
    high: Array

    @cached_property
    def variables(self) -> Indices:
        """The indices (m,) of the variables in theta."""
        return np.flatnonzero(self.free & (self.ties == np.arange(len(self.ties))))

    @cached_property
    def _sums(self) -> Array:
        """(m, p): 1 where an entry of theta has the value of a variable."""
        return np.asarray(self.ties[None, :] == self.variables[:, None], np.float64)

    def gradient(self, gradient: Array) -> Array:
        """The gradient (m,) in the variables, from that in theta (p,)."""
        return np.asarray(self._sums @ gradient)

    def curvature(self, curvature: Array) -> Array:
        """The curvature (m, m) in the variables, from that in theta (p, p)."""
        return np.asarray(self._sums @ curvature @ self._sums.T)

    def inside(self, theta: Array) -> Array:
        """The point (p,) within the bounds that is nearest to theta (p,)."""
        bounded = np.where(self.free, np.clip(theta, self.low, self.high), theta)
        return np.asarray(bounded[self.ties], np.float64)

    def moved(self, theta: Array, step: Array) -> Array:
        """theta (p,) after a step (m,) of the variables, within the bounds."""
        there = theta.copy()
        there[self.variables] += step
        return self.inside(there)

    def are_held(self, theta: Array, gradient: Array) -> Mask:
        """The variables (m,) at a bound that the objective rises beyond; `gradient` (m,)."""
        here = theta[self.variables]
        at_low, at_high = here <= self.low[self.variables], here >= self.high[self.variables]
        return np.asarray((at_low & (gradient <= 0.0)) | (at_high & (gradient >= 0.0)))


@dataclass(frozen=True, eq=False)
class Ascent(Generic[E]):
    """The best evaluation and the number of evaluations.

    `has_converged`: the rise that a further step promises, or the last rises, were below the tolerance; `has_risen`:
    the best is above the start.
    """

    best: E
    evaluations: int
    has_converged: bool
    has_risen: bool


def ascend(
    evaluate: Callable[[Array], E],
    start: E,
    curvature: Array,
    entries: FreeEntries,
    *,
    max_steps: int,
    tolerance: float,
    small_steps: int = 2,
    curvature_at: Callable[[E], Array] | None = None,
) -> Ascent[E]:
    """Maximise from `start`, with minus the Hessian of the variables there approximated by `curvature` (m, m).

    After each step it is updated by BFGS, after each STEPS_OF_CURVATURE-th computed by `curvature_at` where that is
    given: of hundreds of variables, a step changes the curvature more than one update shows.

    It ends where a step promises a rise of less than `tolerance` nats, or where so many `small_steps` in a row rise by
    less; every step raises the objective. A point where a matrix is not positive definite counts as no rise.
    """
    here, evaluations, small, has_converged, longest = start, 0, 0, False, MAX_STEP
    for number in range(1, max_steps + 1):
        slope = entries.gradient(here.gradient)
        step, promised = _step(here.theta, slope, curvature, entries)
        has_converged = promised < tolerance
        if has_converged:
            break
        step *= min(1.0, longest / max(float(np.abs(step).max()), longest))
        there, trials = _search(evaluate, here, step, slope, entries)
        evaluations += trials
        if there is None:
            break
        moved = (there.theta - here.theta)[entries.variables]
        longest = min(MAX_STEP, GROWTH * (longest if trials == 1 else float(np.abs(moved).max())))
        small = small + 1 if there.value - here.value < tolerance else 0
        has_converged = small == small_steps
        if number < max_steps and not has_converged:  # the gradient there is needed for a further step alone
            if curvature_at is None or number % STEPS_OF_CURVATURE:
                curvature = updated(curvature, moved, slope - entries.gradient(there.gradient))
            else:
                curvature = entries.curvature(curvature_at(there))
        here = there
        if has_converged:
            break
    return Ascent(here, evaluations, has_converged=has_converged, has_risen=here is not start)


def _step(theta: Array, slope: Array, curvature: Array, entries: FreeEntries) -> tuple[Array, float]:
    """The Newton step (m,) over the variables that no bound holds, at most MAX_STEP of each, and half its slope."""
    step = np.zeros(len(slope))
    moving = ~entries.are_held(theta, slope)
    if not slope[moving].any():
        return step, 0.0
    lower = cholesky(np.ascontiguousarray(curvature[np.ix_(moving, moving)]))
    step[moving] = solve_with_cholesky(lower, slope[moving])
    step *= min(1.0, MAX_STEP / np.abs(step).max())
    return step, 0.5 * float(slope @ step)


def _search(
    evaluate: Callable[[Array], E], here: E, step: Array, slope: Array, entries: FreeEntries
) -> tuple[E | None, int]:
    """The first point along a step that raises the objective, None without one, and the number of evaluations.

    A share of a step that does not is followed by the maximum of the parabola through it.
    """
    share, rise = 1.0, float(slope @ step)
    for trial in range(1, MAX_TRIALS + 1):
        next_share = MAX_SHARE
        try:
            there = evaluate(entries.moved(here.theta, share * step))
        except NotPositiveDefiniteError:
            pass
        else:
            if there.value > here.value:
                return there, trial
            if np.isfinite(there.value):
                next_share = 0.5 * share * rise / (share * rise + here.value - there.value)
        share *= min(max(next_share, MIN_SHARE), MAX_SHARE)
    return None, MAX_TRIALS


def updated(curvature: Array, step: Array, fall: Array) -> Array:
    """The BFGS update of the curvature (m, m) by a step (m,) along which the gradient fell by `fall` (m,).

    By Powell's damping it stays positive definite.
    """
    towards = curvature @ step
    before, after = float(step @ towards), float(step @ fall)
    if not before > 0.0:
        return curvature
    if after < DAMPING * before:
        share = (1.0 - DAMPING) * before / (before - after)
        fall = share * fall + (1.0 - share) * towards
        after = float(step @ fall)
    return np.asarray(curvature - np.outer(towards, towards) / before + np.outer(fall, fall) / after)


MAX_CORRECTIONS = 20
"""Pairs of steps and gradients that approximate the curvature."""

MAX_LINE_TRIALS = 20
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
        options={"maxiter": iterations, "maxcor": MAX_CORRECTIONS, "ftol": flat, "maxls": MAX_LINE_TRIALS},
    )
    return best, value


def _summed(gradient: Array, leaders: Indices) -> Array:
    """The gradient (n,), summed over tied entries at the first of them."""
    summed = np.zeros(len(gradient))
    np.add.at(summed, leaders, gradient)
    return summed
