"""The hyperparameters of a problem under a Gaussian process prior: starts, bounds, which are learned, and their
prior.

They are optimised by quasi-Newton steps: BFGS from an expected information, and L-BFGS.

[NOCEDAL2006] is Nocedal & Wright, Numerical optimization, 2nd edition.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, log, pi
from typing import Generic, Protocol, TypeVar

import numpy as np
import scipy

from relevance_bayes.core.basis import ConstantFunction, Functions, InputFunctions, KernelFunctions
from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.core.inference.problem import Problem, least_rows
from relevance_bayes.core.kernels import Covariance
from relevance_bayes.core.kernels.hyperparameters import INPUT_PRICE, WARP_SCALE, WIDE, Hyperparameters, InputMap
from relevance_bayes.core.linalg import cholesky, solve_with_cholesky
from relevance_bayes.core.types import Array, Indices, Mask

STARTS = ((0.25, 10.0), (1.0, 10.0), (0.05, 30.0))
"""d/width^2, in units of the inputs' variance, and the targets' square over the noise's.

d^2/width^2 where distances are sums over inputs."""

CAUTIOUS_SIGNAL_TO_NOISE, MAX_SIGNAL_TO_NOISE = log(1e3), log(1e8)
"""Bounds of log beta in units of the targets' square: a cautious one for the starts, then that of rounding."""

WIDEST = 12.0
"""Bound of all other logarithms, and ..."""

COLLINEAR = 20.0
"""... of the log of the linear columns' shared precision where the latent has no units. Differences of collinear inputs
need great weights: of 100 inputs with the noise of a curve the precision ran into the bound above."""

MAX_BENT = 3.0
"""... of the warps, ..."""

MIN_DISTINCT = 12
"""The least number of distinct values of an input with a warp: with fewer, the warp overfits each value."""

MAX_UNEQUAL = 7.0
"""... and of the logits of terms."""

LATENT_VARIANCE = 10.0
"""The initial s where the latent has no units. From 1 the widths of a curved boundary often diverge, to a straight one
of less evidence (Ripley's rows, 100 of 250: log loss .268 against .253)."""

MIN_BIAS_SD = 1.0
"""The least prior sd of the constant of classes: of few rows the evidence would rather have none, and so no class more
frequent than another. Of 20 rows, 12 of one class, inputs that are noise leave the probability at .41, .50 without."""

LINEAR_SD = 3.0
"""Standard deviation of the normal prior on the log of the linear columns' shared precision; its mean is that of d
columns that together have the variance of the targets."""

ROWS_FOR_WARPS = 1_000
"""Rows on which distinct values are counted."""


@dataclass(frozen=True, eq=False)
class HyperparameterSpace:
    """theta of a problem whose process has the candidates `functions` of one kernel."""

    problem: Problem
    functions: KernelFunctions
    kernel: Covariance

    @property
    def starts(self) -> int:
        """The number of starts that are compared.

        None where the problem has a start; one where one width and no noise is learned, since all starts end alike.
        """
        if self.problem.begin is not None:
            return 0
        beta, max_beta = self.problem.likelihood.start(self.problem.t)
        return 1 if self.problem.learning.widths == "one" and max_beta <= beta else len(STARTS)

    @property
    def begin_cap(self) -> float:
        """The bound of log beta, in units of the targets' square, that the given start needs; -inf without."""
        begin = self.problem.begin
        return -inf if begin is None else min(log(begin.beta * self.problem.square), MAX_SIGNAL_TO_NOISE)

    def start(self, number: int) -> Hyperparameters:
        """The start of this number, in the units of the inputs and the targets."""
        begin = self.problem.begin
        if begin is not None:
            return replace(begin, input_map=self._started(begin.input_map.widths))
        d, learning, given = self.problem.inputs, self.problem.learning, self.functions.input_map
        share, ratio = STARTS[number]
        square, spread = self.problem.square, self.problem.spread
        widths = given.widths
        far = np.sqrt(d / share) * (np.sqrt(d) if self.kernel.sums_distances else 1.0)
        if learning.widths == "each":
            widths = spread * far
        elif learning.widths == "one":
            widths = np.array([float(np.sqrt(np.mean(spread**2)) * far)])
        beta, max_beta = self.problem.likelihood.start(self.problem.t)
        signal_variance = square if self.problem.likelihood.has_target_units else LATENT_VARIANCE
        alpha = np.full(len(self.fixed_numbers()), 1.0 / signal_variance)
        alpha[self._linear] *= len(alpha[self._linear])
        return Hyperparameters(beta * ratio if max_beta > beta else beta, signal_variance, alpha, self._started(widths))

    def _started(self, widths: Array) -> InputMap:
        """An input map of these widths, with identity warps where warps are learned."""
        none = np.zeros(self.problem.inputs)
        return InputMap(widths, none, none) if self.problem.learning.warp else InputMap(widths)

    def fixed_numbers(self) -> tuple[int, ...]:
        """The numbers of the candidates without kernel."""
        return tuple(
            number for start, functions in self._without_kernel for number in range(start, start + functions.size)
        )

    @property
    def _without_kernel(self) -> list[tuple[int, Functions]]:
        """The dictionaries without kernel, and the number of the first candidate of each."""
        candidates = self.problem.candidates
        numbered = zip(candidates.starts, candidates.dictionaries, strict=False)
        return [(start, functions) for start, functions in numbered if functions is not self.functions]

    @property
    def _linear(self) -> "slice[int, int, None]":
        """The entries of alpha that belong to the inputs as columns, which share one precision."""
        return self._entries_of(InputFunctions)

    @property
    def _constant(self) -> "slice[int, int, None]":
        """The entry of alpha that belongs to the constant function, if there is one."""
        return self._entries_of(ConstantFunction)

    def _entries_of(self, kind: type[Functions]) -> "slice[int, int, None]":
        """The entries of alpha that belong to the first dictionary of a kind without kernel."""
        first = 0
        for _, functions in self._without_kernel:
            if isinstance(functions, kind):
                return slice(first, first + functions.size)
            first += functions.size
        return slice(first, first)

    def ties(self, h: Hyperparameters) -> Indices:
        """For each entry of theta (p,) the index of the entry it is tied to: one precision for all linear columns."""
        places = np.arange(len(h.packed()))
        alpha = places[2 : 2 + len(h.alpha)]
        alpha[self._linear] = alpha[self._linear][:1]
        return places

    def log_prior(self, h: Hyperparameters) -> tuple[float, Array]:
        """The log prior of the learned widths, warps and terms and of the linear columns' precision, with its
        gradient (p,) in theta."""
        value, slope = h.log_prior() if self.learns else (0.0, np.zeros(len(h.packed())))
        if self.problem.learning.shrinkage:
            common, pull = h.common_width(self.problem.spread, self.problem.learning.shrinkage)
            value, slope = value + common, slope + pull
        linear = h.alpha[self._linear]
        if len(linear):
            off = (log(linear[0] * self.problem.square) - log(len(linear))) / LINEAR_SD
            value -= 0.5 * off**2
            slope[2 + self._linear.start] -= off / LINEAR_SD
        return value, slope

    def prior_curvature(self, h: Hyperparameters) -> Array:
        """Minus the Hessian (p, p) of the log prior, where that is positive, for warps an upper bound of it.

        2/width of each learned width, 2/(WARP_SCALE^2 + a^2) of a warp, 1/LINEAR_SD^2 of the linear columns' shared
        precision, at its first entry, 1/WIDE^2 of a logit, and the shrinkage (I - 11'/k) of k log widths.
        """
        F, k, p = len(h.alpha), len(h.input_map.widths), len(h.packed())
        curvature = np.zeros((p, p))
        if len(h.alpha[self._linear]):
            curvature[2 + self._linear.start, 2 + self._linear.start] = LINEAR_SD**-2
        if not self.learns:
            return curvature
        warp = [part for part in (h.input_map.skew, h.input_map.tail) if part is not None]
        of_warps = [2.0 / (WARP_SCALE**2 + np.square(part)) for part in warp]
        of_logits = np.full(len(h.terms.logits), WIDE**-2)
        own = np.concatenate([INPUT_PRICE / h.input_map.widths, *of_warps, of_logits])
        curvature.flat[(2 + F) * (p + 1) :: p + 1] = own
        shrinkage = self.problem.learning.shrinkage
        if shrinkage and k > 1:
            curvature[2 + F : 2 + F + k, 2 + F : 2 + F + k] += shrinkage * (np.eye(k) - 1.0 / k)
        return curvature

    def log_density(self, h: Hyperparameters) -> float:
        """The normalised log density of the learned hyperparameters that have a prior, in nats.

        Exponential of rate INPUT_PRICE in each 1/width, Cauchy of scale WARP_SCALE in each skew and tail, normal in the
        logits of terms and in the log of the linear columns' shared precision.
        """
        free, value = self.free(h), self.log_prior(h)[0]
        first = 2 + len(h.alpha)
        last = first + len(h.input_map.widths)
        warps = len(free) - len(h.terms.alone)
        value += int(free[first:last].sum()) * log(INPUT_PRICE)
        value -= int(free[last:warps].sum()) * log(pi * WARP_SCALE)
        value -= int(free[warps:].sum()) * log(WIDE * (2.0 * pi) ** 0.5)
        linear = len(h.alpha[self._linear]) > 0
        return value - linear * log(LINEAR_SD * (2.0 * pi) ** 0.5)

    @property
    def learns(self) -> bool:
        """True where the input map is learned, which allows optimised inducing points."""
        return self.problem.learning.widths != "none"

    def max_log_beta(self, cap: float) -> float:
        """The bound of log beta where noise is learned.

        Of fewer rows than `least_rows` the noise variance is at least `min_noise_variance`: the evidence of a function
        that passes through them rises as the noise falls.
        """
        beta, max_beta = self.problem.likelihood.start(self.problem.t)
        bound = min(cap - log(self.problem.square), log(max_beta))
        if max_beta > beta and self.problem.rows < least_rows(self.problem.inputs):
            return min(bound, -log(max(self.min_noise_variance, 1.0 / max_beta)))
        return bound

    @cached_property
    def min_noise_variance(self) -> float:
        """The least noise variance of few rows: the targets' square over N^2, or less where a line leaves less.

        The least-squares line of p coefficients, through N > p rows, leaves the noise variance S/(N - p), S the sum of
        squared residuals [THEORY 23].
        """
        N, t = self.problem.rows, self.problem.t
        bound = self.problem.square / N**2
        columns = np.column_stack([np.ones(N), self.problem.X])
        weights, _, rank, _ = np.linalg.lstsq(columns, t)
        if rank == N:
            return bound
        return min(bound, float(np.square(t - columns @ weights).sum()) / (N - int(rank)))

    def free(self, h: Hyperparameters) -> Mask:
        """True at the entries (p,) of theta that are learned."""
        beta, max_beta = self.problem.likelihood.start(self.problem.t)
        free = h.free(noise=max_beta > beta, widths=self.learns)
        if self.problem.learning.warp:
            last = len(free) - len(h.terms.alone)
            free[last - 2 * len(self._warped) : last] &= np.tile(self._warped, 2)
        return free

    @cached_property
    def _warped(self) -> Mask:
        """The inputs (d,) with enough distinct values for a warp, on a sample of rows."""
        some = self.problem.sample(ROWS_FOR_WARPS)
        return np.array([len(np.unique(column)) >= MIN_DISTINCT for column in some.X.T])

    def box(self, h: Hyperparameters, cap: float) -> tuple[Array, Array]:
        """Lower and upper bounds (p,) of theta."""
        size = len(h.packed())
        low, high = np.full(size, -WIDEST), np.full(size, WIDEST)
        centre = log(self.problem.square)
        low[0], high[0] = -centre - WIDEST, self.max_log_beta(cap)
        low[1], high[1] = centre - WIDEST, centre + WIDEST
        if not self.problem.likelihood.has_target_units:
            high[1] = min(high[1], 2.0 * log(self.problem.likelihood.max_latent_sd))
        F, k = len(h.alpha), len(h.input_map.widths)
        low[2 : 2 + F], high[2 : 2 + F] = -centre - WIDEST, -centre + WIDEST
        if not self.problem.likelihood.has_target_units:
            low[2 : 2 + F][self._linear] = -COLLINEAR
            if self.problem.likelihood.targets == "class":
                high[2 : 2 + F][self._constant] = -2.0 * log(MIN_BIAS_SD)
        unit = np.log(self.start(0).input_map.widths)
        low[2 + F : 2 + F + k], high[2 + F : 2 + F + k] = unit - WIDEST, unit + WIDEST
        last = size - len(h.terms.alone)
        low[2 + F + k : last], high[2 + F + k : last] = -MAX_BENT, MAX_BENT
        low[last:], high[last:] = -MAX_UNEQUAL, MAX_UNEQUAL
        return low, high


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
                next_share = 0.5 * share * rise / (share * rise + (here.value - there.value))
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
