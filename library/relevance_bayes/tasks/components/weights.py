"""The weights of the greatest likelihood: each row is a candidate and a target [TIPPING2001b; THEORY 20].

With H = Phi'C^-1 Phi, (N, N), S_m = H_mm and Q_m^2 = mean_n H_mn^2 belong to candidate m. Without m's own weight they
are s = S/(1 - w S) and q^2 = Q^2/(1 - w S)^2, and l(w) = -N/2 [log(1 + w s) - w q^2/(1 + w s)] is greatest at w =
(q^2 - s)/s^2, where that is positive, else at 0 [TIPPING2001b]. A weight that changes by d changes H by
-d h h'/(1 + d h_m), h = H_m.

The weights of the rows kept are optimised without the others: the likelihood depends on K_A (R, N) only by inner
products, so that R numbers of each row replace N.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy

from relevance_bayes.core.linalg import cholesky, log_determinant, solve_lower
from relevance_bayes.core.types import Array, Indices

MIN_GAIN = 1e-2
"""The least gain in nats of a row that enters."""

ASCENT_TOLERANCE = 1e-1
"""Gain in nats below which the ascent of the rows kept ends while others still enter."""

END_TOLERANCE = 1e-10
"""Gain in nats per row below which the weights of the rows kept have converged."""

ENTRY_SHARE = 0.1
"""Rows that enter between two ascents, as a share of those that are kept."""

STEPS = 200
"""Updates of single weights before a joint one; each adds rounding to H."""

MAX_ASCENTS = 100
"""The most iterations of an ascent in one step."""

MIN_CURVATURE = 1e-10
"""Curvatures are at least this share of the greatest."""

MIN_RELEVANCE = 1e-5
"""Rows of a smaller w S are pruned: they gain at most N (w S)^2/4 nats, as one of two copies."""

MAX_STEP, MIN_STEP = 2.0, 1e-6
"""The greatest and least change of the log weights in a joint step."""


def weights(K: Array, noise_variance: float, start: Array | None = None) -> Iterator[Array]:
    """Yield w (N,) of inner products K (N, N), norms 1, after each step, until no row gains.

    A last entry is 1 where the weights have converged, else 0. All else is recomputed in each step, so that an ascent
    can be resumed from any of them, `start` (N + 1,), with the same result.
    """
    w, is_final = (np.zeros(len(K)), False) if start is None else (start[:-1].copy(), bool(start[-1]))
    while True:
        yield np.append(w, float(is_final))
        H = _weighted_products(K, K, w, noise_variance)
        entered = _enter(H, w)
        if not entered and is_final:
            return
        is_final = not entered
        _maximise(K, w, noise_variance, END_TOLERANCE * len(K) if is_final else ASCENT_TOLERANCE)


def likelihood_gain(inner: Array, products: Array, w: Array, noise_variance: float, rows: int) -> float:
    """The log likelihood ratio of N(0, C) and N(0, sigma^2 I) for `rows` images: -1/2 [N log|C/sigma^2| + tr H -
    tr K/sigma^2], from `inner` (M, M) and `products` (M, n) as in `_weighted_products`, at weights w (M,)."""
    kept = np.flatnonzero(w)
    lower, Z = _whitened(inner[np.ix_(kept, kept)], products[kept], w[kept], noise_variance)
    volume = log_determinant(lower) - len(kept) * np.log(noise_variance)
    return float(-0.5 * (rows * volume - np.square(Z).sum() / noise_variance))


@dataclass(frozen=True, eq=False)
class _Gains:
    """The best weight (M,) of each candidate with all others fixed, and its gain in nats (M,)."""

    best: Array
    nats: Array

    @classmethod
    def of(cls, own: Array, squares: Array, w: Array, rows: int) -> "_Gains":
        """From S (M,), Q^2 (M,) and w (M,) of N = `rows` images."""
        left = 1.0 - w * own
        s, square = own / left, squares / (left * left)
        best = np.maximum(square - s, 0.0) / (s * s)

        def likelihood(w: Array) -> Array:
            grown = 1.0 + w * s
            return np.asarray(-0.5 * rows * (np.log(grown) - w * square / grown))

        return cls(best, likelihood(best) - likelihood(w))


def _enter(H: Array, w: Array) -> bool:
    """Add the rows of the greatest gain, one by one, and update H and w; return whether any entered."""
    max_entries = max(1, int(ENTRY_SHARE * np.count_nonzero(w)))
    squares = np.einsum("mn,mn->m", H, H) / len(H)
    for number in range(max_entries):
        found = _Gains.of(H.diagonal(), squares, w, len(H))
        m = int(np.where(w == 0.0, found.nats, -np.inf).argmax())
        if w[m] != 0.0 or found.nats[m] < MIN_GAIN:
            return number > 0
        w[m] = found.best[m]
        h = H[m].copy()
        share = w[m] / (1.0 + w[m] * h[m])
        squares += (share * h * (share * h * float(h @ h) - 2.0 * (H @ h))) / len(H)
        H -= np.outer(share * h, h)
    return True


def _maximise(K: Array, w: Array, noise_variance: float, tolerance: float) -> None:
    """Optimise the weights above 0, one by one and then together, until the gain is less than `tolerance` nats."""
    kept: Indices = np.flatnonzero(w)
    if not len(kept):
        return
    few = KeptRows(K[np.ix_(kept, kept)], rotated(K[kept]), noise_variance, len(K))
    v = w[kept]
    value = few.value(v)
    for _ in range(MAX_ASCENTS):
        own, products = few.weighted_products(v)
        _steps(own, products, v, len(K), tolerance)
        few.step(v, tolerance)
        before, value = value, few.value(v)
        if value < before + tolerance:
            break
    own, _ = few.weighted_products(v)
    w[kept] = np.where(v * own.diagonal() < MIN_RELEVANCE, 0.0, v)


@dataclass(frozen=True, eq=False)
class KeptRows:
    """The rows kept (R) among each other: K_AA (R, R), and K_A (R, R) rotated, of N = `rows` images."""

    inner: Array
    products: Array
    noise_variance: float
    rows: int

    def weighted_products(self, v: Array) -> tuple[Array, Array]:
        """H_AA (R, R), and H_A (R, R) rotated, at weights v (R,)."""
        return (
            _weighted_products(self.inner, self.inner, v, self.noise_variance),
            _weighted_products(self.inner, self.products, v, self.noise_variance),
        )

    def value(self, v: Array) -> float:
        """The log likelihood ratio at weights v (R,)."""
        return likelihood_gain(self.inner, self.products, v, self.noise_variance, self.rows)

    def derivatives(self, v: Array) -> tuple[Array, Array]:
        """The first (R,) and second (R, R) ones with respect to the logarithms of the weights.

        dL/dw_m = N/2 (Q_m^2 - S_m), and d2L/dw_m dw_k = N/2 (H_mk^2 - 2 H_mk mean_n H_mn H_kn).
        """
        own, products = self.weighted_products(v)
        across = products @ products.T / self.rows
        slope = 0.5 * self.rows * v * (across.diagonal() - own.diagonal())
        curvature = 0.5 * self.rows * (np.square(own) - 2.0 * own * across) * np.outer(v, v)
        curvature.flat[:: len(v) + 1] += slope
        return slope, curvature

    def step(self, v: Array, tolerance: float) -> None:
        """Take a Newton step in the logs of v (R,), with absolute curvatures, if its predicted rise is `tolerance`
        nats."""
        free = np.flatnonzero(v)
        slope, curvature = self.derivatives(v)
        slope, curvature, there = slope[free], curvature[np.ix_(free, free)], v[free]
        values, axes = np.linalg.eigh(curvature)
        along = slope @ axes
        direction = along / np.maximum(np.abs(values), MIN_CURVATURE * np.abs(values).max())
        if not 0.5 * float(along @ direction) >= tolerance:
            return
        move, before = axes @ direction, self.value(v)
        move *= min(1.0, MAX_STEP / np.abs(move).max())
        while np.abs(move).max() > MIN_STEP:
            tried = v.copy()
            tried[free] = there * np.exp(move)
            if self.value(tried) > before:
                v[:] = tried
                return
            move *= 0.5


def _steps(own: Array, products: Array, v: Array, rows: int, tolerance: float) -> None:
    """Update single weights, the greatest gain first, with own (R, R) = H_AA and products (R, R) = H_A, rotated."""
    for _ in range(STEPS):
        found = _Gains.of(own.diagonal(), np.einsum("mn,mn->m", products, products) / rows, v, rows)
        m = int(found.nats.argmax())
        if found.nats[m] < tolerance:
            return
        change, v[m] = found.best[m] - v[m], found.best[m]
        h = own[:, m] * (change / (1.0 + change * own[m, m]))
        products -= np.outer(h, products[m])
        own -= np.outer(h, own[m])


def rotated(some: Array) -> Array:
    """R numbers of each of R rows (R, N) with the same inner products."""
    (triangle,) = scipy.linalg.qr(some.T, mode="r", check_finite=False)
    return np.asarray(triangle[: len(some)].T)


def _weighted_products(inner: Array, products: Array, w: Array, noise_variance: float) -> Array:
    """Phi_M'C^-1 T, (M, n), of inner products Phi_M'Phi_M (M, M) and products = Phi_M'T (M, n)."""
    kept = np.flatnonzero(w)
    lower, Z = _whitened(inner[np.ix_(kept, kept)], products[kept], w[kept], noise_variance)
    across = Z if products is inner else solve_lower(lower, np.sqrt(w[kept])[:, None] * inner[kept])
    return np.asarray((products - across.T @ Z) / noise_variance)


def _whitened(inner: Array, products: Array, w: Array, noise_variance: float) -> tuple[Array, Array]:
    """L and L^-1 W^1/2 products, L L' = sigma^2 I + W^1/2 K W^1/2, of K = `inner`."""
    root = np.sqrt(w)
    square = root[:, None] * inner * root
    square.flat[:: len(w) + 1] += noise_variance
    lower = cholesky(square)
    return lower, solve_lower(lower, root[:, None] * products)
