"""The evidence of a Gaussian process and its gradient: the bound through inducing points, and exact on few rows."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from relevance_bayes.core.columns import MAX_STORED, Columns
from relevance_bayes.core.coupled import maximised
from relevance_bayes.core.hyperparameters import Hyperparameters, packed_gradient
from relevance_bayes.core.kernels import Covariance
from relevance_bayes.core.likelihoods import Likelihood
from relevance_bayes.core.linalg import cholesky, inverse_from_cholesky, log_determinant, pieces
from relevance_bayes.core.posterior import as_columns
from relevance_bayes.core.power import Power
from relevance_bayes.core.priors.gaussian_process import Whitening
from relevance_bayes.core.types import Array, ForRows, Indices
from relevance_bayes.core.variational import Optimum, maximise_bound


@dataclass(frozen=True, eq=False)
class Rows:
    """X (N, d), t (N,), and F (N, F) the columns without kernel (bias, inputs) at them.

    `precisions` (N,) as a problem has them.
    """

    X: Array
    t: Array
    F: Array
    precisions: Array | None = None

    def precision(self, beta: float) -> ForRows:
        """The noise precision of all rows, or of each."""
        return beta if self.precisions is None else beta * self.precisions


@dataclass(frozen=True, eq=False)
class Vectors:
    """The inducing points: X (m, d) of the training rows `rows` (m,), or optimised `moved` (m, d), warped but
    unscaled."""

    rows: Indices
    X: Array
    moved: Array | None = None

    def mapped(self, h: Hyperparameters) -> Array:
        """U of the vectors, (m, d)."""
        return h.input_map(self.X) if self.moved is None else self.moved / h.input_map.widths


@dataclass(frozen=True, eq=False)
class Bound:
    """L in nats with the posterior of the whitened weights [F B] at its maximum, and intermediate results.

    `columns` P (N, R) = [F B], `left` (N,) = c/s; `left_slope` (N,) = dL/dc and `noise_slope` dL/dlog beta.
    """

    value: float

    optimum: Optimum
    whitening: Whitening
    columns: Columns
    left: Array
    left_slope: Array
    noise_slope: float


def bound(
    rows: Rows,
    vectors: Vectors,
    kernel: Covariance,
    likelihood: Likelihood,
    h: Hyperparameters,
    rho: float = 0.0,
    *,
    near: Optimum | None = None,
) -> Bound:
    """L of the process through the inducing points, v = p'Sigma p + c [TITSIAS2009, HENSMAN2015].

    With rho above 0, for Gaussian noise, it is power EP's: see `Power`. `near` is the result at similar
    hyperparameters, with the same rows and as many vectors.
    """
    V = vectors.mapped(h)
    covariance = h.covariance(kernel)
    whitening = Whitening.of(covariance(V, V), jitter=h.jitter)
    columns, left = _columns_and_left(rows, lambda X: covariance(h.input_map(X), V), whitening)
    alpha = np.concatenate([h.alpha, np.full(len(V), 1.0 / h.signal_variance)])
    c = h.signal_variance * left
    beta = rows.precision(h.beta)
    if rho:
        power = Power(rho, np.full(len(c), beta), c)
        found = maximise_bound(columns, rows.t, np.zeros(len(c)), alpha, likelihood, power.precision)
        value = found.value - found.posterior.latents * power.price
        return Bound(value, found, whitening, columns, left, *power.slopes(found))
    found = maximised(columns, rows.t, c, alpha, likelihood, beta, near=near)
    left_slope = -0.5 * found.posterior.latents * found.sites.precision
    return Bound(found.value, found, whitening, columns, left, left_slope, found.sites.noise_slope)


def _columns_and_left(
    rows: Rows, kernel_values: Callable[[Array], Array], whitening: Whitening
) -> tuple[Columns, Array]:
    """P (N, R) = [F B], stored where it is small enough, and `left` (N,); `kernel_values` maps X (n, d) to (n, m)."""
    (N, F), R = rows.F.shape, rows.F.shape[1] + len(whitening.lower)

    def compute(some: "slice[int, int, None]") -> Array:
        X = rows.X[some]
        P = np.empty((len(X), R))
        P[:, :F] = rows.F[some]
        for part in pieces(len(X), max(R, X.shape[1])):
            whitening.columns(kernel_values(X[part]), out=P[part, F:])
        return P

    columns = Columns(N, R, max(R, rows.X.shape[1]), compute)
    left, stored = np.empty(N), np.empty((N, R)) if N * R <= MAX_STORED else None
    for some, P in columns.pieces():
        left[some] = whitening.left(P[:, F:])
        if stored is not None:
            stored[some] = P
    return columns if stored is None else replace(columns, compute=stored.__getitem__), left


def bound_gradient(
    rows: Rows, vectors: Vectors, kernel: Covariance, h: Hyperparameters, found: Bound
) -> tuple[Array, Array | None]:
    """dL/dtheta, and dL/dmoved (m, d) of optimised inducing points: q(w) is stationary at the maximum.

    D = dL/dP = g m' - diag(lam) P Sigma, lam being summed over the latents of a row; the part of the
    whitened columns by c = s (1 - |b|^2) is -2 s diag(dL/dc) B; then through the whitening, kernel and input map.
    """
    F, s, posterior, sites = rows.F.shape[1], h.signal_variance, found.optimum.posterior, found.optimum.sites
    lam, g = posterior.latents * sites.precision, as_columns(sites.gradient)
    own = 0.5 * (posterior.latents * posterior.determined - posterior.alpha * posterior.squares)
    log_signal_variance = -float(own[F:].sum()) + s * float(found.left_slope @ found.left)
    V, covariance = vectors.mapped(h), h.covariance(kernel)
    products, dV = np.zeros((len(V), len(V))), np.zeros_like(V)
    theta = packed_gradient(
        found.noise_slope, log_signal_variance, own[:F], h.input_map.pull(V[:0], V[:0]), np.zeros(len(h.terms.logits))
    )
    for some, P in found.columns.pieces():
        U = h.input_map(rows.X[some])
        D = g[some] @ as_columns(posterior.mean[F:]).T
        D -= lam[some, None] * (P @ posterior.covariance[:, F:])
        D -= 2.0 * s * found.left_slope[some, None] * P[:, F:]
        products += D.T @ P[:, F:]
        dU, dV_some, logits = h.terms.pull(kernel, U, V, found.whitening.pull_columns(D), covariance(U, V))
        theta += packed_gradient(0.0, 0.0, np.zeros(F), h.input_map.pull(rows.X[some], dU), logits)
        dV += dV_some
    dV_mm, logits = h.terms.pull_symmetric(kernel, V, found.whitening.pull_factor(products))
    theta[len(theta) - len(logits) :] += logits
    return with_vectors(theta, vectors, h, dV + dV_mm)


def with_vectors(theta: Array, vectors: Vectors, h: Hyperparameters, dV: Array) -> tuple[Array, Array | None]:
    """dL/dtheta, from its part at fixed inducing points, and dL/dmoved (m, d) of optimised ones; dV (m, d) = dL/dV."""
    F, k = len(h.alpha), len(h.input_map.widths)
    if vectors.moved is None:
        logits = np.zeros(len(h.terms.logits))
        return theta + packed_gradient(0.0, 0.0, np.zeros(F), h.input_map.pull(vectors.X, dV), logits), None
    pulled = -np.einsum("md,md->d", dV, vectors.mapped(h))
    theta[2 + F : 2 + F + k] += pulled if k == len(pulled) else pulled.sum()
    return theta, dV / h.input_map.widths


def exact(rows: Rows, kernel: Covariance, h: Hyperparameters) -> tuple[float, Array, Array]:
    """log p(t) of the full process for Gaussian noise, its gradient in theta, and gamma (F,) of the columns F.

    Where t is (N, K), of K independent processes with the same hyperparameters.

    C = diag(1/beta) + s K + F diag(1/alpha) F', M = 1/2 (C^-1 t t'C^-1 - K C^-1): O(N^3) [THEORY 12].
    """
    U, t, F = h.input_map(rows.X), as_columns(rows.t), rows.F
    latents = t.shape[1]
    K = h.covariance(kernel)(U, U)
    C = (F / h.alpha) @ F.T
    scaled = h.signal_variance * K
    C += scaled
    noise = 1.0 / rows.precision(h.beta)
    C.flat[:: len(t) + 1] += noise
    lower = cholesky(C)
    inverse = inverse_from_cholesky(lower)
    solved = inverse @ t
    value = -0.5 * (latents * (len(t) * np.log(2.0 * np.pi) + log_determinant(lower)) + float(np.vdot(t, solved)))
    determined = np.einsum("nf,nf->f", F, inverse @ F)
    M = np.matmul(solved, solved.T, out=C)
    M -= inverse if latents == 1 else latents * inverse
    M *= 0.5
    log_beta, log_alpha = -float(np.sum(noise * M.diagonal())), -np.einsum("nf,nf->f", F, M @ F) / h.alpha
    log_signal_variance = float(np.vdot(M, scaled))
    M *= h.signal_variance
    dU, logits = h.terms.pull_symmetric(kernel, U, M, K)
    theta = packed_gradient(log_beta, log_signal_variance, log_alpha, h.input_map.pull(rows.X, dU), logits)
    return float(value), theta, determined / h.alpha
