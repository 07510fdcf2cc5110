"""Learning of components: the rows whose images span the covariance of all images, and its noise variance.

The images phi_n of N rows in the kernel's space are modelled as draws of N(0, C), C = sigma^2 I + sum_m w_m phi_m
phi_m', with one weight w_m = 1/alpha_m a row, and C's likelihood is maximised: with s_m = phi_m'C_-m^-1 phi_m and q_mn
= phi_m'C_-m^-1 phi_n by alpha_m = s_m^2/(mean_n q_mn^2 - s_m), where that is positive, else infinite. sigma is fixed.

The weights of the greatest likelihood: each row is a candidate and a target [TIPPING2001b; THEORY 20].

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

from relevance_bayes.core.errors import DataError, UnfitWidthError
from relevance_bayes.core.folds import by_content, random_folds, subset
from relevance_bayes.core.kernels import Covariance
from relevance_bayes.core.kernels.hyperparameters import InputMap
from relevance_bayes.core.linalg import cholesky, log_determinant, solve_lower, squared_distances
from relevance_bayes.core.models.fitting import FitLog
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.tasks.components.space import Components

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


MAX_ROWS = 2_000
"""The most training rows, drawn by content: each is the target of all others."""

FOLDS = 5

MAX_MEASURED = 10_000
"""The most held-out rows whose log densities are reported, drawn by content."""

ROUNDING = 1e-12
"""Variances below this share of the greatest count as 0."""


def components(
    X: Array,
    kernel: Covariance,
    input_map: InputMap,
    *,
    explained: float = 0.9,
    seed: int = 0,
    fit_log: FitLog | None = None,
) -> Iterator[int | Components]:
    """Yield the number of rows kept after each step, then the components; X (N, d). Every step is recorded in the
    `fit_log`.

    sigma^2 is the variance along the first principal axis that is not needed to explain the share `explained`. Raises
    DataError for another X, and for a share not in (0, 1), UnfitWidthError where at the width all rows are independent,
    or all equal.
    """
    if not 0.0 < explained < 1.0:
        raise DataError(f"expected a share above 0 and below 1 to be explained, got {explained:g}")
    rows = drawn(X, seed)
    U = input_map(X[rows])
    K = kernel(U, U)
    noise_variance = _left(K, explained)
    for found in _learned(X, rows, kernel, input_map, K, noise_variance, fit_log or FitLog()):
        if isinstance(found, Components) and not len(found.rows):
            raise UnfitWidthError("expected rows of which some are alike, but by this width none is like another")
        yield found if isinstance(found, Components) else int(np.count_nonzero(found))


def usual_densities(
    X: Array, found: Components, *, seed: int = 0, fit_log: FitLog | None = None
) -> Iterator[int | Array]:
    """Yield the number of completed folds, then the sorted log densities of rows from the distribution of X (N, d).

    Densities at training rows are too high. So these are the densities of at most `MAX_MEASURED` held-out rows, where
    there are at least as many as training rows; else those of training rows by components of the other folds, at the
    same noise variance. `seed` is that of `found`; `fit_log` is continued.
    """
    rows = drawn(X, seed)
    if len(X) >= 2 * len(rows):
        others = by_content(X, np.zeros(len(X)), seed)[len(rows) :][:MAX_MEASURED]
        yield FOLDS
        yield np.sort(found.log_density(X[others]))
        return
    U = found.input_map(X[rows])
    K = found.kernel(U, U)
    densities, own_log = np.empty(len(rows)), fit_log or FitLog()
    for number, (rest, fold) in enumerate(random_folds(X[rows], np.zeros(len(rows)), min(FOLDS, len(rows)), seed)):
        inner, noise_variance = K[np.ix_(rest, rest)], found.noise_variance
        for last in _learned(X, rows[rest], found.kernel, found.input_map, inner, noise_variance, own_log):
            if isinstance(last, Components):
                densities[fold] = last.log_density(X[rows[fold]])
            else:
                yield number
    yield FOLDS
    yield np.sort(densities)


def _learned(
    X: Array, rows: Indices, kernel: Covariance, input_map: InputMap, K: Array, noise_variance: float, fit_log: FitLog
) -> Iterator[Array | Components]:
    """Weights (n,) of `rows` (n,) with inner products K (n, n), step by step, then the components."""
    w, place = np.zeros(len(rows)), fit_log.place
    for now in weights(K, noise_variance, fit_log.recorded()):
        fit_log.record(place, now)
        w = now[:-1]
        yield w
    inside = np.flatnonzero(w)
    kept, evidence = rows[inside], likelihood_gain(K, K, w, noise_variance, len(K))
    yield Components(kernel, input_map, X[kept], kept, w[inside], noise_variance, evidence)


def drawn(X: Array, seed: int = 0) -> Indices:
    """The training rows; raises DataError unless X is (N, d), finite and of at least two rows."""
    if X.ndim != 2 or len(X) < 2 or not np.isfinite(X).all():
        raise DataError(f"expected at least two rows (N, d) of finite numbers, got shape {X.shape}")
    return subset(X, np.zeros(len(X)), MAX_ROWS, seed)


def typical_width(X: Array, seed: int = 0) -> float:
    """The median distance between two training rows of X (N, d) that differ: a width that depends on no target.

    Raises DataError where none differ.
    """
    some = X[drawn(X, seed)]
    squares = squared_distances(some, some)[np.triu_indices(len(some), 1)]
    apart = squares[squares > 0.0]
    if not len(apart):
        raise DataError("expected rows that differ: they are all alike")
    return float(np.sqrt(np.median(apart)))


def _left(K: Array, explained: float) -> float:
    """The variance along the first principal axis of the images that is not needed to explain the share."""
    variances = np.maximum(np.linalg.eigvalsh(K)[::-1], 0.0) / len(K)
    needed = int(np.searchsorted(np.cumsum(variances), explained * variances.sum())) + 1
    if needed >= len(variances):
        raise UnfitWidthError(f"expected fewer components than rows to explain {explained:g}, got all {len(variances)}")
    if variances[needed] <= ROUNDING * variances[0]:
        raise UnfitWidthError("expected rows that few components don't explain whole: they are all alike by this width")
    return float(variances[needed])
