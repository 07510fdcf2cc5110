"""Greedy selection of the rows that carry a function, by evidence at fixed scales, in the Newton basis."""

from dataclasses import dataclass

import numpy as np

from relevance_bayes.core.linalg import cholesky, solve_lower, subtract_outer
from relevance_bayes.core.types import Array, Indices

MIN_RESIDUE = 1e-6
"""The least residual kernel of a candidate: 1e-4 stops too soon, less admits copies."""

PASS_BYTES = 2**19
"""Bytes of the residual kernel that are updated and summed at once, which stay in the cache of a core: it is read from
memory once a step instead of nine times (5,000 rows by 1,000 candidates: .3 times the time)."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """The chosen candidates (m,) in their order, the gain of each in nats, (m,), and the best gain of the others."""

    places: Indices
    gains: Array
    next_gain: float


def choose(
    K: Array,
    *,
    signal_variance: float,
    gradient: Array,
    precision: Array,
    fixed: Array,
    alpha: Array,
    min_gain: float,
    max_functions: int,
    residue: float = MIN_RESIDUE,
) -> Chosen:
    """Add the function that raises L most until none gains `min_gain` nats or `max_functions` are in the model.

    K (N, M) is the kernel of all rows with all candidates, K[place] being a candidate's row where rows come first: the
    candidates are the first M rows. `gradient` (N,) = g, or (N, K) where a row has K latents, and `precision` (N,) =
    lam at the latent without any function; `fixed` (N, F) with precisions `alpha` (F,) are columns in the model. A
    candidate whose residual kernel is below `residue` is excluded.

    In the Newton basis phi_c = K_c / sqrt(d_c), K the residual kernel and d its diagonal, the functions are independent
    under the prior with one precision a = 1/s; a candidate gains
    1/2 [log a - log(a + S) + Q^2/(a + S)] + 1/2 sum lam phi^2 / a: l of [FAUL2002, eq. 12] at a fixed alpha, and the
    decrease of the trace term; summed over the latents of a row. Exact for Gaussian noise. O(N M) a step.
    """
    g, fixed_rows = _with_columns(gradient.reshape(len(gradient), -1), precision, fixed, alpha)
    return choose_beside(
        K,
        signal_variance=signal_variance,
        gradient=g,
        precision=precision,
        explained=fixed_rows,
        min_gain=min_gain,
        max_functions=max_functions,
        residue=residue,
    )


def choose_beside(
    K: Array,
    *,
    signal_variance: float,
    gradient: Array,
    precision: Array,
    explained: Array,
    min_gain: float,
    max_functions: int,
    residue: float,
) -> Chosen:
    """`choose` beside columns in the model: K is the residual kernel under them, scaled to a diagonal of 1.

    `gradient` (N, K) is g at their posterior mean, and `explained` (F, N) = V with C^-1 = diag(lam) - V'V, C the
    covariance of the targets under them and their noise.
    """
    M, a = K.shape[1], 1.0 / signal_variance
    residual = _Residual(np.array(K))
    left = np.ones(M)
    g, k = gradient, gradient.shape[1]
    V, VK = _Stack.of(explained), _Stack.of(explained @ K)
    squares, gK = residual.sums(precision, g)
    places: list[int] = []
    gains: list[float] = []
    while True:
        scale = np.where(left > residue, left, np.inf)
        S = (squares - np.einsum("rm,rm->m", VK.rows, VK.rows)) / scale
        gain = 0.5 * (k * np.log(a / (a + S)) + np.square(gK).sum(axis=0) / scale / (a + S) + k * squares / scale / a)
        gain[places] = 0.0
        best = int(gain.argmax())
        if len(places) >= min(max_functions, M) or gain[best] < min_gain:
            return Chosen(np.array(places, np.intp), np.array(gains), float(gain[best]))
        root = np.sqrt(left[best])
        phi, kappa = residual.K[:, best] / root, residual.K[best] / root
        towards = V.rows @ phi
        v = (precision * phi - V.rows.T @ towards) / np.sqrt(a + S[best])
        g = g - np.outer(v, (phi @ g) / np.sqrt(a + S[best]))
        left -= np.square(kappa)
        V.append(v)
        subtract_outer(VK.rows, towards, kappa)
        squares, products = residual.sums(precision, np.column_stack([g, v]), (phi, kappa))
        gK = products[:k]
        VK.append(products[k])
        places.append(best)
        gains.append(float(gain[best]))


@dataclass(eq=False)
class _Residual:
    """The residual kernel K (N, M) under the chosen functions, read once a step, PASS_BYTES at a time."""

    K: Array

    def sums(self, precision: Array, towards: Array, outer: tuple[Array, Array] | None = None) -> tuple[Array, Array]:
        """diag(K'diag(lam)K) (M,) and Y'K (k, M), Y = `towards` (N, k), after phi kappa' has been subtracted from K."""
        N, M = self.K.shape
        squares, products = np.zeros(M), np.zeros((towards.shape[1], M))
        step = max(PASS_BYTES // (8 * max(M, 1)), 1)
        for first in range(0, N, step):
            rows = slice(first, first + step)
            K = self.K[rows]
            if outer is not None:
                phi, kappa = outer
                subtract_outer(K, phi[rows], kappa)
            squares += precision[rows] @ np.square(K)
            products += towards[rows].T @ K
        return squares, products


@dataclass
class _Stack:
    """Rows (n, k) that grow in number, in memory for twice as many."""

    memory: Array
    count: int

    @classmethod
    def of(cls, rows: Array) -> "_Stack":
        """With some rows."""
        memory = np.empty((2 * len(rows) + 32, rows.shape[1]))
        memory[: len(rows)] = rows
        return cls(memory, len(rows))

    @property
    def rows(self) -> Array:
        """All so far, as a view."""
        return self.memory[: self.count]

    def append(self, row: Array) -> None:
        """One more."""
        if self.count == len(self.memory):
            self.memory = np.concatenate([self.memory, np.empty_like(self.memory)])
        self.memory[self.count] = row
        self.count += 1


def _with_columns(gradient: Array, precision: Array, fixed: Array, alpha: Array) -> tuple[Array, Array]:
    """g (N, K) with the columns `fixed` in the model, and V (F, N) with C^-1 = diag(lam) - V'V."""
    weighted = precision[:, None] * fixed
    lower = cholesky(fixed.T @ weighted + np.diag(alpha))
    V = solve_lower(lower, weighted.T)
    return gradient - V.T @ solve_lower(lower, fixed.T @ gradient), V
