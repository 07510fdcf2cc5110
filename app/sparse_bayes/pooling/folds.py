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
from app.sparse_bayes.process import Rows
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
class _FoldColumns:
    """What the first functions of a list, none of them on a row of the fold, say of a fold from the other rows.

    `known` (n, F + M) and `residual` (n, M + 1) are of the n rows of the fold: through the first m functions their
    means are known[:, :F + m] @ projected[:F + m], and their variances |known[:, :F + m]|^2 + residual[:, m].
    """

    known: Array
    projected: Array
    residual: Array


@dataclass(frozen=True, eq=False)
class Reduced:
    """A process through few functions, in the order in which they were chosen, seen in folds.

    The functions that stand on a fold's own rows are left out there, and those after them take their places: a
    function on a row tells of it more than functions tell of new rows.
    """

    folds: tuple[Indices, ...]
    columns: tuple[_FoldColumns, ...]
    noise: Array
    fixed: int

    @classmethod
    def of(cls, rows: Rows, places: Indices, kernel: Covariance, h: Hyperparameters, folds: Sequence[Indices]) -> Self:
        """Of functions on the rows `places` (M,), the first of them chosen first; raises NotPositiveDefiniteError."""
        U, covariance = h.input_map(rows.X), h.covariance(kernel)
        E = covariance(U, U[places])
        precision = np.broadcast_to(rows.precision(h.beta), len(rows.t))
        columns = tuple(_columns(rows, E, places, h, precision, fold) for fold in folds)
        return cls(tuple(folds), columns, 1.0 / precision, rows.F.shape[1])

    def predicted(self, functions: int) -> tuple[Array, Array]:
        """Mean and variance (N,) of each row's target, noise included, as `whole_process`, through the first ones."""
        mean, variance = np.empty(len(self.noise)), self.noise.copy()
        for fold, found in zip(self.folds, self.columns, strict=True):
            m = min(functions, found.residual.shape[1] - 1)
            known = found.known[:, : self.fixed + m]
            mean[fold] = known @ found.projected[: self.fixed + m]
            variance[fold] += np.vecdot(known, known) + found.residual[:, m]
        return mean, variance


def _columns(
    rows: Rows, E: Array, places: Indices, h: Hyperparameters, precision: Array, fold: Indices
) -> _FoldColumns:
    """The posterior's precision P'diag(lam)P + A is factorised as L L', so that the first m functions have its first
    rows and columns: with G = P L^-T the weights of G are independent, of variance 1."""
    others = np.ones(len(rows.t), np.bool_)
    others[fold] = False
    chosen = np.flatnonzero(others[places])
    E = E[:, chosen]
    B = Whitening.of(E[places[chosen]], jitter=h.jitter).columns(E)
    P = np.hstack([rows.F, B])
    alpha = np.concatenate([h.alpha, np.full(B.shape[1], 1.0 / h.amplitude)])
    weighted = precision[others, None] * P[others]
    lower = cholesky(P[others].T @ weighted + np.diag(alpha))
    explained = np.hstack([np.zeros((len(fold), 1)), np.cumsum(np.square(B[fold]), axis=1)])
    return _FoldColumns(
        solve_lower(lower, P[fold].T).T,
        solve_lower(lower, weighted.T @ rows.t[others]),
        h.amplitude * np.maximum(1.0 - explained, 0.0),
    )
