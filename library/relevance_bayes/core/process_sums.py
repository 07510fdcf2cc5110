"""Sums over all rows of a process through inducing points: one pass, then all is of size R [THEORY 13]."""

from dataclasses import dataclass, replace
from math import log, pi
from typing import Self

import numpy as np

from relevance_bayes.core.basis import Candidates
from relevance_bayes.core.hyperparameters import Hyperparameters
from relevance_bayes.core.kernels import Additive, Covariance
from relevance_bayes.core.linalg import max_rows_of_gram
from relevance_bayes.core.posterior import Posterior, Sums, posterior
from relevance_bayes.core.power import Power
from relevance_bayes.core.priors.gaussian_process import Whitening
from relevance_bayes.core.problem import Problem
from relevance_bayes.core.process import Vectors
from relevance_bayes.core.row_source import RowBlock
from relevance_bayes.core.types import Array


@dataclass(frozen=True, eq=False)
class RowSums:
    """The sums over N rows of K latents through the columns P = [F B] of one input map and one set of vectors.

    `gram` (R, R) = P'WP; with r = t - P `origin`, so that nothing is lost to cancellation at low noise,
    `slope` = P'Wr, shaped as the origin, (R,) or (R, K), and `square` = r'Wr; `left` = sum_n w_n (1 - |b_n|^2);
    `log_precisions` = log |W|. W = diag(w) are the noise precisions over beta, I where all rows have one. Sums of
    other rows may be added.

    With rho above 0 W are those of `Power` and `left` = 2 T/(beta s), at the hyperparameters summed at: L and the
    posterior are to be had there alone, and the gradient is that of W held still.
    """

    rows: int
    origin: Array
    gram: Array
    slope: Array
    square: float
    left: float
    log_precisions: float

    def __add__(self, other: Self, /) -> "RowSums":
        return RowSums(
            self.rows + other.rows,
            self.origin,
            self.gram + other.gram,
            self.slope + other.slope,
            self.square + other.square,
            self.left + other.left,
            self.log_precisions + other.log_precisions,
        )

    def at(self, h: Hyperparameters) -> "Reached":
        """L, and its gradient in what the columns don't depend on, for Gaussian noise of precision beta."""
        F, s, beta = len(h.alpha), h.signal_variance, h.beta
        alpha = np.concatenate([h.alpha, np.full(len(self.origin) - F, 1.0 / s)])
        found = posterior(Sums(0.0, 0.0, 0.0, beta * self.slope, beta * self.gram), self.origin, alpha)
        moved, K = found.mean - self.origin, found.latents
        square = max(self.square - float(np.vdot(moved, 2.0 * self.slope - self.gram @ moved)), 0.0)
        residual_squares = beta * (square + K * s * self.left) + K * float(found.determined.sum())
        value = (
            0.5 * (K * (self.rows * log(beta / (2.0 * pi)) + self.log_precisions) - residual_squares) - found.divergence
        )
        own = 0.5 * (K * found.determined - alpha * found.squares)
        log_signal_variance = -float(own[F:].sum()) - 0.5 * K * beta * s * self.left
        return Reached(
            value, found, np.concatenate([[0.5 * (K * self.rows - residual_squares), log_signal_variance], own[:F]])
        )


@dataclass(frozen=True, eq=False)
class Reached:
    """L in nats, the posterior of the whitened weights, and dL/d(log beta, log s, log alpha), (2 + F,)."""

    value: float
    posterior: Posterior
    gradient: Array


@dataclass(frozen=True, eq=False)
class SumRows:
    """The reduction to the sums of a process with a `covariance`, through inducing points that are `mapped` (m, d).

    `fixed` are candidates without kernel, and `origin` (R,) or (R, K) weights near the mean.
    """

    candidates: Candidates
    fixed: tuple[int, ...]
    covariance: Covariance | Additive
    mapped: Array
    whitening: Whitening
    h: Hyperparameters
    origin: Array
    rho: float = 0.0

    @property
    def max_rows(self) -> int:
        """The number of rows for which it is called at once."""
        return max_rows_of_gram(max(len(self.origin), self.mapped.shape[1]))

    def __call__(self, block: RowBlock, /) -> RowSums:
        P, F = np.empty((len(block), len(self.origin))), len(self.fixed)
        P[:, :F] = self.candidates.columns(block.X, self.fixed)
        B = self.whitening.columns(self.covariance(self.h.input_map(block.X), self.mapped), out=P[:, F:])
        r = block.t - P @ self.origin
        left = self.whitening.left(B)
        unexplained = float(block.weighted(left).sum())
        if self.rho:
            beta, s = self.h.beta, self.h.signal_variance
            power = Power(self.rho, block.weighted(np.full(len(r), beta)), s * left)
            block = replace(block, precisions=power.precision / beta)
            unexplained = 2.0 * power.price / (beta * s)
        weighted, residuals = block.weighted(P), block.weighted(r)
        return RowSums(
            len(r),
            self.origin,
            P.T @ weighted,
            P.T @ residuals,
            float(np.vdot(r, residuals)),
            unexplained,
            block.log_precisions,
        )


def row_sums(
    problem: Problem,
    fixed: tuple[int, ...],
    vectors: Vectors,
    kernel: Covariance,
    h: Hyperparameters,
    origin: Array,
    rho: float = 0.0,
) -> RowSums:
    """The sums of all rows, in one pass. `fixed`: candidates without kernel; `origin` (R,): weights near the mean."""
    V = vectors.mapped(h)
    covariance = h.covariance(kernel)
    whitening = Whitening.of(covariance(V, V), jitter=h.jitter)
    sum_rows = SumRows(problem.candidates, fixed, covariance, V, whitening, h, origin, rho)
    return problem.source.reduce(sum_rows, sum_rows.max_rows)
