"""How a process, whole or through few functions, predicts each fold from the rows of all others, in closed form.

The hyperparameters stay those learned from all rows: good enough to weigh members by, which it flatters alike, and not
a score to report.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from app.sparse_bayes.hyperparameters import Hyperparameters
from app.sparse_bayes.kernels import Covariance
from app.sparse_bayes.linalg import cholesky, inverse_from_cholesky, solve_lower
from app.sparse_bayes.priors.gaussian_process import Whitening
from app.sparse_bayes.process import Rows, Vectors
from app.sparse_bayes.types import Array, Indices


def whole_process(rows: Rows, kernel: Covariance, h: Hyperparameters, folds: Sequence[Indices]) -> tuple[Array, Array]:
    """Mean and variance (N,) of each row's target, noise included, given the rows of all other folds.

    With K = C^-1, C = diag(1/beta) + s k + F diag(1/alpha) F', and S = (K_FF)^-1 of a fold F: t_F - m_F = S (K t)_F,
    and the variances are S's diagonal [RASMUSSEN2006, eqs 5.12; in blocks]. O(N^3).
    """
    U = h.input_map(rows.X)
    C = h.amplitude * h.covariance(kernel)(U, U) + (rows.F / h.alpha) @ rows.F.T
    C.flat[:: len(C) + 1] += 1.0 / rows.precision(h.beta)
    inverse = inverse_from_cholesky(cholesky(C))
    solved = inverse @ rows.t
    mean, variance = np.empty(len(rows.t)), np.empty(len(rows.t))
    for fold in folds:
        left_out = inverse_from_cholesky(cholesky(inverse[np.ix_(fold, fold)]))
        mean[fold] = rows.t[fold] - left_out @ solved[fold]
        variance[fold] = left_out.diagonal()
    return mean, variance


@dataclass(frozen=True, eq=False)
class Reduced:
    """A process through functions in the order in which they were chosen, so that it can be cut after any of them.

    `columns` (N, F + M) are whitened by the posterior's precision, each after those before it: through the first m
    functions the posterior variance at row n is |columns_n|^2 over the first F + m. `noise` (N,) is the noise variance
    of each row, `residual` (N, M + 1) what the first m functions leave of the process's variance there.
    """

    t: Array
    columns: Array
    noise: Array
    residual: Array

    @classmethod
    def of(cls, rows: Rows, vectors: Vectors, kernel: Covariance, h: Hyperparameters, jitter: float) -> Self:
        """Of M functions that stand on `vectors`; raises NotPositiveDefiniteError."""
        V, covariance = vectors.mapped(h), h.covariance(kernel)
        B = Whitening.of(covariance(V, V), jitter=jitter).columns(covariance(h.input_map(rows.X), V))
        P = np.hstack([rows.F, B])
        precision = np.broadcast_to(rows.precision(h.beta), len(rows.t))
        alpha = np.concatenate([h.alpha, np.full(B.shape[1], 1.0 / h.amplitude)])
        lower = cholesky(P.T @ (precision[:, None] * P) + np.diag(alpha))
        explained = np.cumsum(np.square(B), axis=1)
        left = np.maximum(1.0 - np.hstack([np.zeros((len(B), 1)), explained]), 0.0)
        return cls(rows.t, solve_lower(lower, P.T).T, 1.0 / precision, h.amplitude * left)

    @property
    def fixed(self) -> int:
        """F, the columns that are no functions of the kernel."""
        return int(self.columns.shape[1] - self.residual.shape[1] + 1)

    def predicted(self, functions: int, folds: Sequence[Indices]) -> tuple[Array, Array]:
        """Mean and variance (N,) of each row's target, noise included, through the first functions, as `whole_process`.

        With G the whitened columns, H = G G' diag(1/noise) and r = t - G G' diag(1/noise) t: without the rows of a fold
        its residuals are (I - H_FF)^-1 r_F, and their posterior variances the diagonal of (I - H_FF)^-1 G_F G_F'.
        """
        G = self.columns[:, : self.fixed + functions]
        residuals = self.t - G @ (G.T @ (self.t / self.noise))
        mean, variance = np.empty(len(self.t)), np.empty(len(self.t))
        for fold in folds:
            known = G[fold] @ G[fold].T
            # (I - H)^-1 G G' = (diag(1/noise) (I - H))^-1 ... in the symmetric form noise - G G' needs.
            left = cholesky(np.diag(self.noise[fold]) - known)
            solved = inverse_from_cholesky(left)
            mean[fold] = self.t[fold] - self.noise[fold] * (solved @ residuals[fold])
            # noise + noise (noise - GG')^-1 GG' = noise (noise - GG')^-1 noise
            variance[fold] = self.noise[fold] ** 2 * solved.diagonal() + self.residual[fold, functions]
        return mean, variance
