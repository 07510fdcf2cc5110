"""Scales by the exact evidence: starts, those of short widths among them, and BFGS from the expected information.

From wide kernels a gradient ascent takes a function of many periods for noise. So three steps follow the usual starts:
a periodogram of all rows finds periods, the evidence of short widths is computed without gradient on the rows of the
starts, and those that are nearly as good as the best start so far are starts as well. Without oscillations none is.

[SCARGLE1982] is Scargle, Studies in astronomical time series analysis II, The Astrophysical Journal 263.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import log, pi
from typing import Generic, Protocol, TypeVar

import numpy as np

from relevance_bayes.core.algorithms.hyperparameter_space import (
    CAUTIOUS_SIGNAL_TO_NOISE,
    STARTS,
    Ascent,
    EvaluatedPoint,
    FreeEntries,
    ascend,
)
from relevance_bayes.core.algorithms.state import Trial
from relevance_bayes.core.algorithms.task import TOLERANCE_PER_ROW, ProcessTask
from relevance_bayes.core.concurrency import lazy
from relevance_bayes.core.errors import NotPositiveDefiniteError, SparseBayesError
from relevance_bayes.core.inference.exact_process import FEW_PROBES, PROBES, ExactProcess, WithoutFold
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.inference.process import ProcessRows
from relevance_bayes.core.kernels.by_input import Periodic
from relevance_bayes.core.kernels.hyperparameters import Hyperparameters
from relevance_bayes.core.linalg import cholesky, log_determinant, solve_lower, solve_with_cholesky
from relevance_bayes.core.rows import MIN_SAMPLE
from relevance_bayes.core.types import Array, Mask

RIDGE = 0.3
"""Curvature in nats a squared logarithm that is added to that of each entry: one that the rows don't determine moves
by at most so much."""

TOLERANCE_OF_STARTS = 1.0
"""Nats that a step of a start must promise."""

MAX_STEPS, MAX_STEPS_OF_STARTS = 40, 10


def scales_curvature(information: Array, task: ProcessTask, h: Hyperparameters) -> Array:
    """The expected information (p, p), the prior's curvature and RIDGE."""
    curvature = information + task.space.prior_curvature(h)
    curvature.flat[:: len(curvature) + 1] += RIDGE
    return np.asarray(curvature)


@dataclass(frozen=True, eq=False)
class ScalesAt:
    """The log posterior of the scales at one point theta (p,): log p(t) of the process and the log prior."""

    task: ProcessTask
    theta: Array
    process: ExactProcess | WithoutFold

    @lazy
    def value(self) -> float:
        """log p(t) + log prior, in nats."""
        return self.process.value + self._prior[0]

    @lazy
    def gradient(self) -> Array:
        """Its gradient (p,)."""
        return self.process.gradient + self._prior[1]

    @lazy
    def curvature(self) -> Array:
        """The expected information, the prior's curvature and RIDGE, (p, p)."""
        if isinstance(self.process, WithoutFold):
            raise SparseBayesError("expected the process at all its rows")
        information = self.process.information_by(FEW_PROBES if self.task.is_wide else PROBES)
        return scales_curvature(information, self.task, self.process.h)

    @lazy
    def _prior(self) -> tuple[float, Array]:
        return self.task.space.log_prior(self.process.h)


class ScalesPoint(EvaluatedPoint, Protocol):
    """The log posterior of the scales at one point theta (p,)."""

    @property
    def curvature(self) -> Array:
        """Minus its expected Hessian (p, p), with RIDGE."""


S = TypeVar("S", bound=ScalesPoint)


@dataclass(eq=False)
class Scales(ABC, Generic[S]):
    """The log posterior of the scales on some rows: `like` has the parts of theta, `cap` is the bound of log beta in
    units of the targets' square."""

    task: ProcessTask
    rows: ProcessRows
    like: Hyperparameters
    cap: float

    @abstractmethod
    def __call__(self, theta: Array) -> S:
        """The evaluation at theta (p,); raises NotPositiveDefiniteError."""

    @lazy
    def entries(self) -> FreeEntries:
        """The entries of theta that are learned, with their bounds."""
        space = self.task.space
        return FreeEntries(space.free(self.like), space.ties(self.like), *space.box(self.like, self.cap))

    def learned(self, max_steps: int, tolerance: float, curvature: Array | None = None) -> Ascent[S]:
        """The ascent from `like`, at first with the expected `curvature` (m, m) of the variables, by default that
        there; raises NotPositiveDefiniteError where nothing can be computed there."""
        start = self(self.entries.inside(self.like.packed()))
        begin = self.entries.curvature(start.curvature) if curvature is None else curvature
        again = None
        if self.task.is_wide:
            tolerance, again = max(tolerance, TOLERANCE_PER_ROW * len(self.rows.t)), _curvature
        return ascend(self, start, begin, self.entries, max_steps=max_steps, tolerance=tolerance, curvature_at=again)


@dataclass(eq=False)
class ExactScales(Scales[ScalesAt]):
    """Those by the exact evidence."""

    def __call__(self, theta: Array) -> ScalesAt:
        """The evaluation at theta (p,); raises NotPositiveDefiniteError."""
        return ScalesAt(self.task, theta, ExactProcess.of(self.rows, self.task.kernel, self.like.unpacked(theta)))


def _curvature(there: ScalesPoint) -> Array:
    return there.curvature


MAX_PERIODS = 3
"""The most inputs of whose periods widths are made."""

MIN_VALUES = 12
"""The least number of distinct values of an input that can show periods."""

TRIMMED = 0.01
"""The share of rows at each end of an input that its periodogram leaves out, so that few far rows don't make the range
of all others short."""

CELLS, FFT_LENGTH = 1_365, 4_096
"""Cells of an input's range, and the length of the FFT: its frequencies are a third of a cycle apart."""

MIN_CYCLES = 2.5
"""The least cycles in the range: the usual starts find longer periods."""

VALUES_PER_CYCLE = 4.0
"""Distinct values in a cycle, at least."""

FALSE_ALARM = 0.01
"""The probability that rows without oscillation show a period, at most."""

RIDGE_OF_SLOPES = 1e-6
"""The penalty per row on the slopes of standardised inputs."""

NO_RESIDUAL = 1e-10
"""The share of the targets' square below which residuals are those of the penalty and of rounding."""

MULTIPLIERS = (1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32)
"""Common widths, in units of the start at which d/width^2 is the inputs' variance."""

PARTS_OF_PERIOD = (0.45, 0.2)
"""The width of an input that oscillates, over its period. A periodic kernel's is the period."""

WIDE = 4.0
"""The widths of all other inputs then, in the same units as common widths."""

RATIOS, RATIOS_OF_PERIODS = (10.0, 300.0), (1.0,)
"""Signal variance over noise variance, of all widths and of those of periods besides."""

STRIP = 64
"""Rows whose covariances with those before them and with each other are computed at once: no others are needed."""

MAX_NATS_BELOW, MAX_STARTS = 2.0, 2
"""The nats by which a start may be below the best maximum before it, and the number of such starts, at most."""


@dataclass(frozen=True)
class Period:
    """The `period` of an `input` (its index), in the units of that input.

    `power` is that of the periodogram over the residuals' mean square: exponential with mean 1 for white noise.
    """

    input: int
    period: float
    power: float


def linear_residuals(X: Array, t: Array, precisions: Array | None = None) -> Array:
    """The residuals (N,) of a ridge regression of t (N,) on all inputs X (N, d), each times its noise precision.

    `precisions` (N,) as a problem has them. 0 where the inputs explain all of t.
    """
    (n, d), w = X.shape, np.ones(len(t)) if precisions is None else precisions / precisions.mean()
    centred = t - np.average(t, weights=w)
    Z = X - np.average(X, axis=0, weights=w)
    sd = np.sqrt(np.mean(np.square(Z), axis=0))
    Z /= np.where(sd > 0.0, sd, 1.0)
    weighted = w[:, None] * Z
    gram = Z.T @ weighted
    gram.flat[:: d + 1] += RIDGE_OF_SLOPES * n
    residuals = centred - Z @ solve_with_cholesky(cholesky(gram), weighted.T @ centred)
    is_linear = float(w @ residuals**2) <= NO_RESIDUAL * float(w @ centred**2)
    return np.zeros(n) if is_linear else w * residuals


def periods(X: Array, residuals: Array) -> tuple[Period, ...]:
    """The periods of at most MAX_PERIODS inputs of X (N, d), one each, of greatest power first; residuals (N,).

    The power of the frequency f of an input x is |sum_n r_n exp(2 pi i f x_n)|^2 / sum_n r_n^2 [SCARGLE1982], by an FFT
    of residuals summed in cells. It is exponential for white noise, so that the highest of F frequencies of d inputs is
    significant above log(F d / FALSE_ALARM). Only local maxima count: the lowest frequencies may be those of a trend.
    """
    significant = [
        found
        for number, column in enumerate(X.T)
        if (found := _period(number, column, residuals, X.shape[1])) is not None
    ]
    return tuple(sorted(significant, key=lambda found: -found.power)[:MAX_PERIODS])


def _period(number: int, x: Array, residuals: Array, inputs: int) -> Period | None:
    """The significant period of one input x (N,), if there is one."""
    if len(x) < MIN_VALUES:
        return None
    ordered, cut = np.sort(x), int(TRIMMED * len(x))
    low, high = float(ordered[cut]), float(ordered[-1 - cut])
    values = 1 + int(np.count_nonzero(np.diff(ordered[(ordered >= low) & (ordered <= high)])))
    if values < MIN_VALUES:
        return None
    inside = (x >= low) & (x <= high)
    r = residuals[inside]
    square = float(r @ r)
    if square <= 0.0:
        return None
    cells = np.minimum(((x[inside] - low) * (CELLS / (high - low))).astype(np.intp), CELLS - 1)
    power = np.square(np.abs(np.fft.rfft(np.bincount(cells, r, FFT_LENGTH)))) / square
    cycles = np.arange(len(power)) * (CELLS / FFT_LENGTH)
    tested = (cycles >= MIN_CYCLES) & (cycles <= values / VALUES_PER_CYCLE)
    candidates = np.flatnonzero(tested & _is_local_maximum(power))
    if not len(candidates):
        return None
    best = int(candidates[power[candidates].argmax()])
    if power[best] <= log(np.count_nonzero(tested) * inputs / FALSE_ALARM):
        return None
    return Period(number, (high - low) / float(cycles[best]), float(power[best]))


def _is_local_maximum(power: Array) -> Mask:
    """True at the numbers of power (F,) that are not below their neighbours."""
    rises = np.diff(power) >= 0.0
    return np.asarray(np.append(True, rises) & np.append(~rises, True))


def periods_of(problem: Problem) -> tuple[Period, ...]:
    """The periods in the rows of a problem of one target: in all, or those of the sample that one pass draws."""
    drawn = problem.sample(MIN_SAMPLE)
    precisions = None if problem.precisions is None else problem.precisions[drawn.numbers]
    return periods(drawn.X, linear_residuals(drawn.X, problem.t[drawn.numbers], precisions))


def has_short_starts(task: ProcessTask) -> bool:
    """True where widths are learned from starts, of one target whose evidence is exact."""
    problem = task.problem
    return problem.likelihood.is_conjugate and problem.t.ndim == 1 and task.space.learns and task.space.starts > 0


def screened(task: ProcessTask, rows: ProcessRows, found: tuple[Period, ...]) -> tuple[Trial, ...]:
    """Hyperparameters of short widths and their log posterior on some rows, in nats, the best first.

    Common widths, and those of the periods `found`, each alone and all together; of each the best ratio of signal to
    noise. The warps are the identity. The objective is that of the starts: that of `ExactScales`. None unless
    `has_short_starts`.
    """
    if not has_short_starts(task):
        return ()
    profile, ratios = _Profile(task, rows), (*RATIOS_OF_PERIODS, *RATIOS)
    trials = [profile.best(_unit(task) * multiplier, RATIOS) for multiplier in MULTIPLIERS]
    trials += [profile.best(widths, ratios) for widths in _of_periods(task, found)]
    return tuple(sorted((trial for trial in trials if trial), key=lambda trial: -trial.objective))


def _unit(task: ProcessTask) -> Array:
    """The widths (k,) of the start at which d/width^2 is the inputs' variance."""
    return np.asarray(task.space.start(0).input_map.widths * STARTS[0][0] ** 0.5)


def _of_periods(task: ProcessTask, found: tuple[Period, ...]) -> Iterator[Array]:
    """The widths (k,) of each period alone and of all together; of one common width, that of each period."""
    parts = (1.0,) if isinstance(task.kernel, Periodic) else PARTS_OF_PERIOD
    is_common = task.problem.learning.widths == "one"
    for some in [*((one,) for one in found), *([found] if len(found) > 1 and not is_common else [])]:
        for part in parts:
            widths = WIDE * _unit(task)
            for one in some:
                widths[0 if is_common else one.input] = part * one.period
            yield widths


@dataclass(frozen=True, eq=False)
class _Profile:
    """The evidence on some rows, greatest in the signal variance s at given widths and ratios.

    With C = s C1, C1 = K + F diag(1/a) F' + diag(1/w)/ratio, a = s alpha as at the starts, the evidence is

        -n/2 log(2 pi s) - q/(2 s) - 1/2 log|C1|,    q = t'C1^-1 t

    greatest at s = q/n, or at the nearest s within the bounds of the starts. Known noise has the ratio s beta at the
    starts' s, which stays.
    """

    task: ProcessTask
    rows: ProcessRows

    @cached_property
    def start(self) -> Hyperparameters:
        """The first start, of which all but widths, s and ratio stay."""
        return self.task.space.start(0)

    @cached_property
    def shares(self) -> Array:
        """a = s alpha, (F,)."""
        return self.start.alpha * self.start.signal_variance

    @cached_property
    def fixed(self) -> Array:
        """F diag(1/a) F', (n, n)."""
        return np.asarray((self.rows.F / self.shares) @ self.rows.F.T)

    @cached_property
    def is_learned(self) -> bool:
        """True where the noise is learned."""
        return bool(self.task.space.free(self.start)[0])

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        """Those of beta, s and alpha at the starts, each (2 + F,)."""
        low, high = self.task.space.box(self.start, CAUTIOUS_SIGNAL_TO_NOISE)
        some = slice(2 + len(self.shares))
        return np.exp(low[some]), np.exp(high[some])

    def best(self, widths: Array, ratios: tuple[float, ...]) -> Trial | None:
        """The trial of the best ratio with widths (k,); None where no C1 is positive definite."""
        h = replace(self.start, input_map=replace(self.start.input_map, widths=widths))
        C = self._without_noise(h)
        diagonal, noise = C.diagonal().copy(), 1.0 / self.rows.precision(1.0)
        trials: list[Trial] = []
        for ratio in ratios if self.is_learned else (h.signal_variance * h.beta,):
            C.flat[:: len(C) + 1] = diagonal + noise / ratio
            try:
                trials.append(self._trial(h, ratio, cholesky(C)))
            except NotPositiveDefiniteError:
                continue
        return max(trials, key=lambda trial: trial.objective, default=None)

    def _without_noise(self, h: Hyperparameters) -> Array:
        """K + F diag(1/a) F' (n, n), of which strips on and below the diagonal alone are filled."""
        C, U, covariance = self.fixed.copy(), h.input_map(self.rows.X), h.covariance(self.task.kernel)
        for first in range(0, len(U), STRIP):
            last = first + STRIP
            C[first:last, :last] += covariance(U[first:last], U[:last])
        return C

    def _trial(self, h: Hyperparameters, ratio: float, lower: Array) -> Trial:
        """The trial of a ratio, from the Cholesky factor of C1."""
        t = self.rows.t
        q, s = float(np.sum(np.square(solve_lower(lower, t)))), h.signal_variance
        if self.is_learned:
            (low, high), inverse = self.bounds, np.append(ratio, self.shares)  # beta = ratio/s, alpha = a/s
            lowest = max(low[1], float((inverse / np.delete(high, 1)).max()))
            s = max(lowest, min(q / len(t), high[1], float((inverse / np.delete(low, 1)).min())))
        value = -0.5 * (len(t) * log(2.0 * pi * s) + q / s + log_determinant(lower))
        beta = ratio / s if self.is_learned else h.beta
        there = replace(h, beta=beta, signal_variance=s, alpha=self.shares / s)
        return Trial(there, value + self.task.space.log_prior(there)[0])


def worth_maximising(trials: tuple[Trial, ...], best: float) -> tuple[Trial, ...]:
    """At most MAX_STARTS of the trials, the best first, that are less than MAX_NATS_BELOW below the `best` maximum."""
    return tuple(trial for trial in trials[:MAX_STARTS] if trial.objective > best - MAX_NATS_BELOW)


def with_short_starts(
    task: ProcessTask, rows: ProcessRows, best: Trial, maximised: Callable[[Hyperparameters], Trial]
) -> Trial:
    """The best of the maximum `best` that the usual starts reach on some rows, and of those from short widths.

    `maximised` returns the maximum on the same rows from a start. The result is `best` itself where no other is better.
    """
    if not has_short_starts(task):
        return best
    starts = worth_maximising(screened(task, rows, periods_of(task.problem)), best.objective)
    return max((best, *(maximised(start.hyperparameters) for start in starts)), key=lambda trial: trial.objective)
