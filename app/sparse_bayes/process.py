"""Evidence of a Gaussian process and its gradient: seen through few vectors (the bound), and exact on few rows."""

from dataclasses import dataclass

import numpy as np

from app.sparse_bayes.hyperparameters import Hyperparameters, gathered
from app.sparse_bayes.kernels import Covariance
from app.sparse_bayes.likelihoods import Likelihood
from app.sparse_bayes.likelihoods.sites import Sites
from app.sparse_bayes.linalg import cholesky, inverse_from_cholesky, log_determinant
from app.sparse_bayes.posterior import Posterior, Sums, posterior
from app.sparse_bayes.priors.gaussian_process import Whitening
from app.sparse_bayes.types import Array, Indices

MOST_INNER_STEPS = 50
INNER_TOLERANCE = 1e-9
"""The inner iteration rests when a step raises L by less than this share of 1 + |L|."""


@dataclass(frozen=True, eq=False)
class Rows:
    """X (N, d), t (N,), and F (N, F) the columns without kernel (bias, inputs) at them."""

    X: Array
    t: Array
    F: Array


@dataclass(frozen=True, eq=False)
class Vectors:
    """Where the functions stand: X (m, d) of the training rows `rows` (m,), or `moved` (m, d), warped but unscaled."""

    rows: Indices
    X: Array
    moved: Array | None = None

    def mapped(self, h: Hyperparameters) -> Array:
        """U of the vectors, (m, d)."""
        return h.input_map(self.X) if self.moved is None else self.moved / h.input_map.widths


@dataclass(frozen=True, eq=False)
class Bound:
    """L in nats with the posterior of the whitened weights [F B], and what was met on the way.

    E (N, m) the kernel's columns, P (N, R) = [F B], `left` (N,) = c/s, the latents f and v (N,), and the likelihood's
    `sites` there.
    """

    value: float
    posterior: Posterior
    sites: Sites
    whitening: Whitening
    E: Array
    P: Array
    left: Array
    f: Array
    v: Array


def bound(rows: Rows, vectors: Vectors, kernel: Covariance, likelihood: Likelihood, h: Hyperparameters) -> Bound:
    """L = sum_n ell(t_n, f_n, v_n) - KL(N(m, Sigma) || N(0, A^-1)), v = p'Sigma p + c [TITSIAS2009, HENSMAN2015].

    One posterior solve where the sites are constant, else repeated until L rests.
    """
    V = vectors.mapped(h)
    whitening = Whitening.of(kernel(V, V))
    E = kernel(h.input_map(rows.X), V)
    B = whitening.columns(E)
    left = whitening.left(B)
    P = np.hstack([rows.F, B])
    alpha = np.concatenate([h.alpha, np.full(B.shape[1], 1.0 / h.amplitude)])
    c, t = h.amplitude * left, rows.t

    def after(weights: Array, sites: Sites) -> Bound:
        sums = Sums(0.0, 0.0, 0.0, P.T @ sites.gradient, P.T @ (sites.precision[:, None] * P))
        rested = posterior(sums, weights, alpha)
        f = P @ rested.mean
        v = c + np.einsum("nr,nr->n", P @ rested.covariance, P)
        there = likelihood.expected(t, f, v, h.beta)
        return Bound(float(there.value.sum()) - rested.divergence, rested, there, whitening, E, P, left, f, v)

    nowhere = np.zeros(len(t))
    found = after(np.zeros(P.shape[1]), likelihood.expected(t, nowhere, c + (P**2) @ (1.0 / alpha), h.beta))
    if likelihood.constant_precision:
        return found
    for _ in range(MOST_INNER_STEPS):
        there = after(found.posterior.mean, found.sites)
        if there.value - found.value <= INNER_TOLERANCE * (1.0 + abs(found.value)):
            return there if there.value > found.value else found
        found = there
    return found


def bound_gradient(
    rows: Rows, vectors: Vectors, kernel: Covariance, h: Hyperparameters, found: Bound
) -> tuple[Array, Array | None]:
    """dL/dtheta, and dL/dmoved (m, d) where the vectors move: at rest q(w) itself need not be followed.

    D = dL/dP = g m' - diag(lam) P Sigma; what c passes on to the whitened columns is s diag(lam) B; then through the
    whitening, the kernel and the input map.
    """
    F, s, rested = rows.F.shape[1], h.amplitude, found.posterior
    g, lam, B = found.sites.gradient, found.sites.precision, found.P[:, rows.F.shape[1] :]
    D = np.outer(g, rested.mean) - lam[:, None] * (found.P @ rested.covariance)
    own = 0.5 * (rested.determined - rested.alpha * rested.mean**2)
    log_amplitude = -float(own[F:].sum()) - 0.5 * s * float(lam @ found.left)
    D_E, D_mm = found.whitening.pull(B, D[:, F:] + s * lam[:, None] * B)
    U, V = h.input_map(rows.X), vectors.mapped(h)
    dU, dV = kernel.pull(U, V, D_E, found.E)
    dV = dV + kernel.pull_symmetric(V, D_mm)
    theta = gathered(found.sites.noise_slope, log_amplitude, own[:F], h.input_map.pull(rows.X, dU))
    if vectors.moved is None:
        return theta + gathered(0.0, 0.0, np.zeros(F), h.input_map.pull(vectors.X, dV)), None
    k = len(h.input_map.widths)
    pulled = -np.einsum("md,md->d", dV, V)
    theta[2 + F : 2 + F + k] += pulled if k == len(pulled) else pulled.sum()
    return theta, dV / h.input_map.widths


def exact(rows: Rows, kernel: Covariance, h: Hyperparameters) -> tuple[float, Array, Array]:
    """log p(t) of the process itself for Gaussian noise, its gradient in theta, and gamma (F,) of the columns F.

    C = I/beta + s K + F diag(1/alpha) F', M = 1/2 (C^-1 t t'C^-1 - C^-1): O(N^3) [SPARSE_GP 3].
    """
    U, t, F = h.input_map(rows.X), rows.t, rows.F
    K = kernel(U, U)
    C = h.amplitude * K + (F / h.alpha) @ F.T
    C.flat[:: len(t) + 1] += 1.0 / h.beta
    lower = cholesky(C)
    inverse = inverse_from_cholesky(lower)
    solved = inverse @ t
    value = -0.5 * (len(t) * np.log(2.0 * np.pi) + log_determinant(lower) + float(t @ solved))
    M = np.outer(solved, solved)
    M -= inverse
    M *= 0.5
    dU = kernel.pull_symmetric(U, h.amplitude * M, K)
    theta = gathered(
        -float(np.trace(M)) / h.beta,
        h.amplitude * float(np.einsum("ij,ij->", M, K)),
        -np.einsum("nf,nf->f", F, M @ F) / h.alpha,
        h.input_map.pull(rows.X, dU),
    )
    return float(value), theta, np.einsum("nf,nf->f", F, inverse @ F) / h.alpha
