"""The bound of a process through inducing points, and its gradient, in two passes over the rows [THEORY 13]."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from relevance_bayes.core.basis import Candidates
from relevance_bayes.core.hyperparameters import Hyperparameters, packed_gradient
from relevance_bayes.core.kernels import Covariance
from relevance_bayes.core.linalg import max_piece
from relevance_bayes.core.posterior import Posterior, as_columns
from relevance_bayes.core.priors.gaussian_process import Whitening
from relevance_bayes.core.problem import Problem
from relevance_bayes.core.process import Vectors, with_vectors
from relevance_bayes.core.process_sums import Reached, RowSums, SumRows
from relevance_bayes.core.row_source import RowBlock
from relevance_bayes.core.types import Array


@dataclass(frozen=True, eq=False)
class RowSlopes:
    """The contribution of rows to dL/dtheta through the kernel's columns at them, shaped as theta, and of dL/dV (m,
    d)."""

    theta: Array
    vectors: Array

    def __add__(self, other: Self, /) -> "RowSlopes":
        return RowSlopes(self.theta + other.theta, self.vectors + other.vectors)


@dataclass(frozen=True, eq=False)
class SumSlopes:
    """The reduction to the slopes at a posterior of the whitened weights [F B], for Gaussian noise.

    With E = B L' the kernel's columns, dL/dE = g u' - K lam (F C_F + E C_E): u (m, K) = L^-T mean, and C (R, m) =
    (Sigma - s I) L^-1, of which the lower part is whitened once more. `fixed_mean` (F, K), `mapped` (m, d); `of_E` (m,
    m) = -K beta C_E, `of_others` (F + K, m) = [-K beta C_F; u'].
    """

    candidates: Candidates
    fixed: tuple[int, ...]
    kernel: Covariance
    h: Hyperparameters
    mapped: Array
    fixed_mean: Array
    u: Array
    of_E: Array
    of_others: Array

    @classmethod
    def of(
        cls,
        candidates: Candidates,
        fixed: tuple[int, ...],
        kernel: Covariance,
        h: Hyperparameters,
        mapped: Array,
        whitening: Whitening,
        posterior: Posterior,
    ) -> "SumSlopes":
        """At a posterior of weights whitened by `whitening`."""
        F, mean, scale = len(fixed), as_columns(posterior.mean), -posterior.latents * h.beta
        spread = posterior.covariance[F:].copy()
        spread[:, F:].flat[:: len(spread) + 1] -= h.signal_variance
        C = whitening.pull_columns(spread.T)
        C *= scale
        of_E, u = whitening.pull_columns(C[F:].T).T, whitening.weights(mean[F:])
        return cls(candidates, fixed, kernel, h, mapped, mean[:F], u, of_E, np.concatenate([C[:F], u.T]))

    @property
    def max_rows(self) -> int:
        """The number of rows for which it is called at once."""
        return max_piece(max(len(self.mapped) + len(self.fixed), self.mapped.shape[1]))

    def __call__(self, block: RowBlock, /) -> RowSlopes:
        h, U = self.h, self.h.input_map(block.X)
        E, F = h.covariance(self.kernel)(U, self.mapped), self.candidates.columns(block.X, self.fixed)
        g = h.beta * block.weighted(as_columns(block.t) - F @ self.fixed_mean - E @ self.u)
        D = block.weighted(E @ self.of_E)
        D += np.hstack([block.weighted(F), g]) @ self.of_others
        dU, dV, logits = h.terms.pull(self.kernel, U, self.mapped, D, E)
        own = np.zeros(len(self.fixed))
        return RowSlopes(packed_gradient(0.0, 0.0, own, h.input_map.pull(block.X, dU), logits), dV)


def summed_bound(
    problem: Problem, fixed: tuple[int, ...], vectors: Vectors, kernel: Covariance, h: Hyperparameters, origin: Array
) -> tuple[Reached, Array, Array | None]:
    """L on all rows, dL/dtheta, and dL/dmoved (m, d) of optimised inducing points: see `bound` and `bound_gradient`.

    For Gaussian noise and rho of 0. `fixed`: candidates without kernel; `origin` (R,) or (R, K): weights near the mean.
    """
    V, covariance = vectors.mapped(h), h.covariance(kernel)
    E_mm = covariance(V, V)
    whitening = Whitening.of(E_mm, jitter=h.jitter)
    sum_rows = SumRows(problem.candidates, fixed, covariance, V, whitening, h, origin)
    sums = problem.source.reduce(sum_rows, sum_rows.max_rows)
    reached = sums.at(h)
    sum_slopes = SumSlopes.of(problem.candidates, fixed, kernel, h, V, whitening, reached.posterior)
    slopes = problem.source.reduce(sum_slopes, sum_slopes.max_rows)
    dV, logits = h.terms.pull_symmetric(kernel, V, whitening.pull_factor(_whitened_slopes(sums, reached, h)), E_mm)
    theta = slopes.theta.copy()
    theta[: len(reached.gradient)] += reached.gradient
    theta[len(theta) - len(logits) :] += logits
    return reached, *with_vectors(theta, vectors, h, slopes.vectors + dV)


def _whitened_slopes(sums: RowSums, reached: Reached, h: Hyperparameters) -> Array:
    """dL/dB'B (m, m), B the whitened columns, from the sums alone: dL/dB = g m' - K lam (P Sigma - s B).

    As Sigma^-1 = A + beta gram, of which A is I/s for the weights of B, beta Sigma gram = I - Sigma A.
    """
    F, s, found = len(h.alpha), h.signal_variance, reached.posterior
    towards = h.beta * (sums.slope - sums.gram @ (found.mean - sums.origin))
    spread = found.covariance[F:, F:] / s
    spread += (s * h.beta) * sums.gram[F:, F:]
    spread *= found.latents
    spread.flat[:: len(spread) + 1] -= found.latents
    spread += as_columns(found.mean[F:]) @ as_columns(towards[F:]).T
    return spread
