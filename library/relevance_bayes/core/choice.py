"""Greedy selection of the rows that carry a function, by evidence at fixed scales, in the Newton basis."""

from dataclasses import dataclass
from math import inf

import numpy as np

from relevance_bayes.core.linalg import cholesky, solve_lower
from relevance_bayes.core.types import Array, ForRows, Indices

MIN_RESIDUE = 1e-6
"""The least residual kernel of a candidate: 1e-4 stops too soon, less admits copies."""

PASS_BYTES = 2**19
"""Bytes of the residual kernel that are updated and summed at once, which stay in the cache of a core."""

BLOCK = 24
"""Functions after which the residual kernel is updated, by one product of matrices, and summed: until then it is read
once a step and never written, and the sums of the candidates follow by algebra of rank one."""

MAX_DRIFT = 1e-6
"""The largest error of the best gain by running sums, as a share of the gain (at least a nat): above it the sums are
computed anew and the choice is repeated. With little noise they lose it within some steps."""


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
    max_total_gain: float = inf,
    residue: float = MIN_RESIDUE,
) -> Chosen:
    """Add the function that raises L most until none gains `min_gain` nats or `max_functions` are in the model, or
    their gains add up to `max_total_gain` nats.

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
        max_total_gain=max_total_gain,
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
    max_total_gain: float = inf,
) -> Chosen:
    """`choose` beside columns in the model: K is the residual kernel under them, scaled to a diagonal of 1.

    `gradient` (N, K) is g at their posterior mean, and `explained` (F, N) = V with C^-1 = diag(lam) - V'V, C the
    covariance of the targets under them and their noise.
    """
    limit = min(max_functions, K.shape[1])
    sums = _RunningSums(K, 1.0 / signal_variance, gradient, precision, explained, limit)
    places: list[int] = []
    gains: list[float] = []
    total = 0.0
    while True:
        gain = sums.gains(residue)
        gain[places] = 0.0
        best = int(gain.argmax())
        if len(places) >= limit or gain[best] < min_gain or total >= max_total_gain:
            if sums.are_exact:
                return Chosen(np.array(places, np.intp), np.array(gains), float(gain[best]))
        else:
            found = sums.function(best)
            if sums.are_exact or abs(found.gain - gain[best]) <= MAX_DRIFT * max(found.gain, 1.0):
                sums.add(found)
                places.append(best)
                gains.append(found.gain)
                total += found.gain
                continue
        sums.renew()


@dataclass(frozen=True, eq=False)
class _Function:
    """A candidate as a function: phi (N,) and kappa (M,), its column and row of K over the root of its residue.

    `explained` (F,) = V phi, `left` (N,) = C^-1 phi, `quality` (K,) = phi'g; `square` = phi'diag(lam) phi, and
    `sparsity` = phi'C^-1 phi. All are products with phi, so that the gain in nats has no error of running sums.
    """

    phi: Array
    kappa: Array
    explained: Array
    left: Array
    quality: Array
    square: float
    sparsity: float
    gain: float


class _RunningSums:
    """The residual kernel K (N, M) under the chosen functions, and the sums of each candidate over the rows.

    K is that at the last renewal less Phi (N, n) kappas (n, M), of the n functions since; `left` (M,) is its diagonal.
    The sums are diag(K'diag(lam) K), diag(K'C^-1 K) and g'K. With w = C^-1 phi, S = phi'w and v = w / sqrt(a + S),

    diag(K'C^-1 K) - 2 kappa o K'w + S kappa^2 - (v'K)^2, the last with the K after the step,

    is the second after a step, and the first is found as simply. Rounding is relative to the largest terms, which
    cancel: both are at least 0, and `renew` computes them anew.
    """

    squares: Array
    conditional: Array
    gK: Array

    def __init__(
        self, K: Array, a: float, gradient: Array, precision: Array, explained: Array, max_functions: int
    ) -> None:
        """With the columns explained (F, N) in the model, for up to `max_functions`; K is copied."""
        (N, M), F = K.shape, len(explained)
        self.K, self.a, self.g, self.precision = np.array(K), a, gradient, precision
        self.left = np.ones(M)
        self.count, self.since = F, 0
        self.V, self.VK = np.empty((F + max_functions, N)), np.empty((F + max_functions, M))
        self.V[:F], self.VK[:F] = explained, explained @ K
        self.phis, self.kappas = np.empty((N, BLOCK), order="F"), np.empty((BLOCK, M))
        self.towards = np.zeros((F + max_functions, BLOCK), order="F")
        self.renew()

    @property
    def are_exact(self) -> bool:
        """True where the sums were computed from K after the last function."""
        return self.since == 0

    def gains(self, residue: float) -> Array:
        """The gain of each candidate in nats (M,), 0 of those whose residual kernel is at most `residue`."""
        scale = np.where(self.left > residue, self.left, np.inf)
        return self._gain(self.conditional / scale, np.square(self.gK).sum(axis=0) / scale, self.squares / scale)

    def function(self, place: int) -> _Function:
        """The candidate at `place`, normalised under the chosen functions."""
        n, root = self.since, np.sqrt(self.left[place])
        phi = (self.K[:, place] - self.phis[:, :n] @ self.kappas[:n, place]) / root
        kappa = (self.K[place] - self.phis[place, :n] @ self.kappas[:n]) / root
        V, weighted = self.V[: self.count], self.precision * phi
        explained, quality, square = V @ phi, phi @ self.g, float(weighted @ phi)
        left = weighted - explained @ V
        sparsity = max(square - float(explained @ explained), 0.0)
        gain = self._gain(sparsity, np.square(quality).sum(), square)
        return _Function(phi, kappa, explained, left, quality, square, sparsity, float(gain))

    def add(self, one: _Function) -> None:
        """The sums beside one more function."""
        n, r = self.since, self.count
        w, kappa, root = one.left, one.kappa, np.sqrt(self.a + one.sparsity)
        wK = w @ self.K - (w @ self.phis[:, :n]) @ self.kappas[:n]
        weighted = wK + one.explained @ self.VK[:r] - (one.explained @ self.towards[:r, :n]) @ self.kappas[:n]
        vK = (wK - float(w @ one.phi) * kappa) / root
        self.squares = np.maximum(self.squares - kappa * (2.0 * weighted - one.square * kappa), 0.0)
        conditional = self.conditional - kappa * (2.0 * wK - one.sparsity * kappa) - np.square(vK)
        self.conditional = np.maximum(conditional, 0.0)
        self.gK = self.gK - np.outer(one.quality, kappa) - np.outer(one.quality / root, vK)
        self.g = self.g - np.outer(w / root, one.quality / root)
        self.left -= np.square(kappa)
        self.V[r], self.VK[r] = w / root, vK
        self.phis[:, n], self.kappas[n], self.towards[:r, n] = one.phi, kappa, one.explained
        self.count, self.since = r + 1, n + 1
        if self.since == BLOCK:
            self.renew()

    def renew(self) -> None:
        """K under all chosen functions, and the sums by products, PASS_BYTES at a time."""
        (N, M), n = self.K.shape, self.since
        phis, kappas, VK = self.phis[:, :n], self.kappas[:n], self.VK[: self.count]
        self.squares, self.gK = np.zeros(M), np.zeros((self.g.shape[1], M))
        step = max(PASS_BYTES // (8 * max(M, 1)), 1)
        for first in range(0, N, step):
            rows = slice(first, first + step)
            K = self.K[rows]
            if n:
                K -= phis[rows] @ kappas
            self.squares += self.precision[rows] @ np.square(K)
            self.gK += self.g[rows].T @ K
        VK -= self.towards[: self.count, :n] @ kappas
        self.conditional = np.maximum(self.squares - np.einsum("rm,rm->m", VK, VK), 0.0)
        self.towards[:] = 0.0
        self.since = 0

    def _gain(self, sparsity: ForRows, quality: ForRows, square: ForRows) -> Array:
        a, latents = self.a, self.g.shape[1]
        shrunk = a + sparsity
        return np.asarray(0.5 * (latents * np.log(a / shrunk) + quality / shrunk + latents * square / a))


def _with_columns(gradient: Array, precision: Array, fixed: Array, alpha: Array) -> tuple[Array, Array]:
    """g (N, K) with the columns `fixed` in the model, and V (F, N) with C^-1 = diag(lam) - V'V."""
    weighted = precision[:, None] * fixed
    lower = cholesky(fixed.T @ weighted + np.diag(alpha))
    V = solve_lower(lower, weighted.T)
    return gradient - V.T @ solve_lower(lower, fixed.T @ gradient), V
