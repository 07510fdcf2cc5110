"""The hyperparameters of a problem under a Gaussian process prior: starts, bounds, which are learned, and their
prior."""

from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, log, pi

import numpy as np

from relevance_bayes.core.basis import Functions, InputFunctions, KernelFunctions
from relevance_bayes.core.hyperparameters import INPUT_PRICE, WARP_SCALE, Hyperparameters
from relevance_bayes.core.kernels import Covariance
from relevance_bayes.core.problem import Problem
from relevance_bayes.core.scales import InputMap
from relevance_bayes.core.terms import WIDE
from relevance_bayes.core.types import Array, Indices, Mask

STARTS = ((0.25, 10.0), (1.0, 10.0), (0.05, 30.0))
"""d/width^2, in units of the inputs' variance, and the targets' square over the noise's.

d^2/width^2 where distances are sums over inputs."""

CAUTIOUS_SIGNAL_TO_NOISE, MAX_SIGNAL_TO_NOISE = log(1e3), log(1e8)
"""Bounds of log beta in units of the targets' square: a cautious one for the starts, then that of rounding."""

WIDEST = 12.0
"""Bound of all other logarithms, and ..."""

MAX_BENT = 3.0
"""... of the warps, ..."""

MIN_DISTINCT = 12
"""The least number of distinct values of an input with a warp: with fewer, the warp overfits each value."""

MAX_UNEQUAL = 7.0
"""... and of the logits of terms."""

LATENT_VARIANCE = 10.0
"""The initial s where the latent has no units. From 1 the widths of a curved boundary often diverge, to a straight one
of less evidence (Ripley's rows, 100 of 250: log loss .268 against .253)."""

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
        first = 0
        for _, functions in self._without_kernel:
            if isinstance(functions, InputFunctions):
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
        """The bound of log beta where noise is learned."""
        _, max_beta = self.problem.likelihood.start(self.problem.t)
        return min(cap - log(self.problem.square), log(max_beta))

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
        unit = np.log(self.start(0).input_map.widths)
        low[2 + F : 2 + F + k], high[2 + F : 2 + F + k] = unit - WIDEST, unit + WIDEST
        last = size - len(h.terms.alone)
        low[2 + F + k : last], high[2 + F + k : last] = -MAX_BENT, MAX_BENT
        low[last:], high[last:] = -MAX_UNEQUAL, MAX_UNEQUAL
        return low, high
