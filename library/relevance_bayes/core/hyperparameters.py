"""The hyperparameters learned by gradient under a Gaussian process prior, as one vector of logarithms and warps."""

from dataclasses import dataclass, field

import numpy as np

from relevance_bayes.core.kernels import Additive, Covariance
from relevance_bayes.core.scales import InputMap, MapGradient
from relevance_bayes.core.terms import Terms
from relevance_bayes.core.types import Array, Mask

WARP_SCALE = 0.2
"""Scale of the Cauchy prior on the warps: it shrinks irrelevant warps to 0 [THEORY 10]."""

INPUT_PRICE = 2.0
"""Nats per unit of sqrt(eta) = 1/width."""


@dataclass(frozen=True, eq=False)
class Hyperparameters:
    """beta, the process's variance s, the precisions alpha (F,) of the columns without kernel, and the input map.

    `terms` are the inputs that have a term of their own. `jitter` is added to the diagonal of the kernel
    matrix of few functions, None for JITTER; it is not learned.
    """

    beta: float
    signal_variance: float
    alpha: Array
    input_map: InputMap
    terms: Terms = field(default_factory=Terms)
    jitter: float | None = None

    def packed(self) -> Array:
        """theta = [log beta, log s, log alpha (F,), log widths (k,), skew (d,), tail (d,), logits (a,)].

        No warp, or no terms, no entries.
        """
        scales = self.input_map
        warp = [part for part in (scales.skew, scales.tail) if part is not None]
        head = np.log(np.concatenate([[self.beta, self.signal_variance], self.alpha, scales.widths]))
        return np.concatenate([head, *warp, self.terms.logits])

    def unpacked(self, theta: Array) -> "Hyperparameters":
        """The hyperparameters of another theta (p,), of the same parts."""
        F, k = len(self.alpha), len(self.input_map.widths)
        last = len(theta) - len(self.terms.alone)
        head, warp, terms = np.exp(theta[: 2 + F + k]), theta[2 + F + k : last], Terms(self.terms.alone, theta[last:])
        d = len(warp) // 2
        scales = InputMap(head[2 + F :]) if d == 0 else InputMap(head[2 + F :], warp[:d], warp[d:])
        return Hyperparameters(float(head[0]), float(head[1]), head[2 : 2 + F], scales, terms, self.jitter)

    def covariance(self, kernel: Covariance) -> Covariance | Additive:
        """Of the process over its variance, made of a kernel."""
        return self.terms.of(kernel)

    def free(self, *, noise: bool, widths: bool) -> Mask:
        """True at the entries (p,) of theta that may move."""
        F, k = len(self.alpha), len(self.input_map.widths)
        moves = np.ones(len(self.packed()), np.bool_)
        moves[0] = noise
        moves[2 + F : 2 + F + k] = widths
        return moves

    def log_prior(self) -> tuple[float, Array]:
        """-2 sum 1/width - sum log(1 + (a/.2)^2) - sum log(1 + (l/.2)^2) - 1/2 sum (logit/3)^2.

        With its gradient (p,) in theta.
        """
        scales = self.input_map
        price = INPUT_PRICE / scales.widths
        value, parts = -float(price.sum()), [np.zeros(2 + len(self.alpha)), price]
        for warp in (scales.skew, scales.tail):
            if warp is not None:
                value -= float(np.log1p((warp / WARP_SCALE) ** 2).sum())
                parts.append(-2.0 * warp / (WARP_SCALE**2 + warp**2))
        of_terms, slope = self.terms.log_prior()
        return value + of_terms, np.concatenate([*parts, slope])

    def common_width(self, spread: Array, shrinkage: float) -> tuple[float, Array]:
        """-1/2 shrinkage sum (log r_k - mean log r)^2, widths in units of the inputs' sds, with its gradient.

        `spread` (d,) are these sds. The log widths are normal about a common one, which is free.
        """
        F, k = len(self.alpha), len(self.input_map.widths)
        slope = np.zeros(len(self.packed()))
        if k == 1:
            return 0.0, slope
        logs = np.log(self.input_map.widths / spread)
        off = logs - logs.mean()
        slope[2 + F : 2 + F + k] = -shrinkage * off
        return -0.5 * shrinkage * float(off @ off), slope


def packed_gradient(
    log_beta: float, log_signal_variance: float, log_alpha: Array, scales: MapGradient, logits: Array
) -> Array:
    """A gradient (p,) in theta from its parts: those of `log_alpha` (F,), the input map and the logits (a,)."""
    warp = [part for part in (scales.skew, scales.tail) if part is not None]
    return np.concatenate([[log_beta, log_signal_variance], log_alpha, scales.log_widths, *warp, logits])
