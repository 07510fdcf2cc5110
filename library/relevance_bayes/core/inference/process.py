"""Power EP: from the variational bound (rho = 0) to FITC (rho = 1), for Gaussian noise [BUI2017; THEORY 9]."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import log, pi
from typing import Self

import numpy as np

from relevance_bayes.core.basis import Candidates
from relevance_bayes.core.concurrency import lazy
from relevance_bayes.core.inference.evidence import Chosen, choose_beside
from relevance_bayes.core.inference.factors import maximised
from relevance_bayes.core.inference.posterior import (
    MAX_STORED,
    Columns,
    LatentSites,
    Optimum,
    Posterior,
    Sums,
    as_columns,
    maximise_bound,
    posterior,
)
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.kernels import Additive, Covariance
from relevance_bayes.core.kernels.hyperparameters import Hyperparameters, packed_gradient
from relevance_bayes.core.likelihoods import Likelihood
from relevance_bayes.core.linalg import cholesky, max_piece, max_rows_of_gram, pieces, root_of_gram, solve_lower
from relevance_bayes.core.priors import JITTER, Whitening
from relevance_bayes.core.rows import RowBlock
from relevance_bayes.core.types import Array, ForRows, Indices


@dataclass(frozen=True, eq=False)
class Power:
    """The sites of power EP for rows of noise precision beta (N,) and residual variance c (N,); rho in (0, 1].

    The share rho of the residual variance is noise, row by row: lam = beta/(1 + rho beta c). The price of the rest is
    T = (1 - rho)/(2 rho) sum log(1 + rho beta c), which at rho = 0 would be 1/2 sum beta c.
    """

    rho: float
    beta: Array
    c: Array

    @property
    def precision(self) -> Array:
        """lam, (N,)."""
        return self.beta / (1.0 + self.rho * self.beta * self.c)

    @property
    def price(self) -> float:
        """T, of each latent of a row."""
        return (1.0 - self.rho) / (2.0 * self.rho) * float(np.log1p(self.rho * self.beta * self.c).sum())

    def slopes(self, found: Optimum) -> tuple[Array, float]:
        """dL/dc (N,) and dL/dlog beta, from the posterior under lam.

        With g = 1/2 [lam^2 (r^2 + p'Sigma p) - lam], which is -lam dL/dlog lam: rho g - (1 - rho)/2 lam, and
        -sum g/beta - (1 - rho)/2 lam'c, summed over the latents of a row.
        """
        K = found.posterior.latents
        lam, rest = self.precision, 0.5 * K * (1.0 - self.rho)
        squares = np.square(found.sites.gradient).reshape(len(lam), -1).sum(axis=1)
        g = 0.5 * (squares + K * (lam**2 * found.v - lam))
        return self.rho * g - rest * lam, -float(np.sum(g / self.beta)) - rest * float(lam @ self.c)


@dataclass(frozen=True, eq=False)
class ProcessRows:
    """X (N, d), t (N,), and F (N, F) the columns without kernel (bias, inputs) at them.

    `precisions` (N,) as a problem has them.
    """

    X: Array
    t: Array
    F: Array
    precisions: Array | None = None

    @lazy
    def order(self) -> Indices:
        """The rows (N,) by the last input, then those before it, then the target: the same in whatever order they
        come."""
        return np.lexsort((*as_columns(self.t).T, *self.X.T))

    def precision(self, beta: float) -> ForRows:
        """The noise precision of all rows, or of each."""
        return beta if self.precisions is None else beta * self.precisions

    def take(self, some: Indices) -> "ProcessRows":
        """The rows `some` (n,)."""
        return ProcessRows(
            self.X[some], self.t[some], self.F[some], None if self.precisions is None else self.precisions[some]
        )


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
    rows: ProcessRows,
    vectors: Vectors,
    kernel: Covariance,
    likelihood: Likelihood,
    h: Hyperparameters,
    rho: float = 0.0,
    *,
    near: Optimum | None = None,
    first: LatentSites | None = None,
    tolerance_of_sites: float | None = None,
) -> Bound:
    """L of the process through the inducing points, v = p'Sigma p + c [TITSIAS2009, HENSMAN2015].

    With rho above 0, for Gaussian noise, it is power EP's: see `Power`. `near` is the result at similar
    hyperparameters, with the same rows and as many vectors; without it `first` are sites at the same rows. The sites
    converge to the share `tolerance_of_sites` of 1 + |L|, None for the default of `maximised`.
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
    found = maximised(
        columns, rows.t, c, alpha, likelihood, beta, near=near, first=first, tolerance_of_sites=tolerance_of_sites
    )
    left_slope = -0.5 * found.posterior.latents * found.sites.precision
    return Bound(found.value, found, whitening, columns, left, left_slope, found.sites.noise_slope)


def _columns_and_left(
    rows: ProcessRows, kernel_values: Callable[[Array], Array], whitening: Whitening
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
    rows: ProcessRows, vectors: Vectors, kernel: Covariance, h: Hyperparameters, found: Bound
) -> tuple[Array, Array | None]:
    """dL/dtheta, and dL/dmoved (m, d) of optimised inducing points: q(w) is stationary at the maximum.

    D = dL/dP = g m' - diag(lam) P Sigma, lam being summed over the latents of a row; the part of the whitened columns
    by c = s (1 - |b|^2) is -2 s diag(dL/dc) B, mostly s diag(lam) B; then through the whitening, kernel and input map.
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
    explained = -posterior.covariance[:, F:]
    explained[F:].flat[:: len(V) + 1] += s
    outside = s * (lam + 2.0 * found.left_slope)  # 0 but where rows have a share of the residual variance as noise
    for some, P in found.columns.pieces():
        U = h.input_map(rows.X[some])
        D = P @ explained
        D *= lam[some, None]
        D += g[some] @ as_columns(posterior.mean[F:]).T
        if outside.any():
            D -= outside[some, None] * P[:, F:]
        products += D.T @ P[:, F:]
        dU, dV_some, logits = h.terms.pull(kernel, U, V, found.whitening.pull_columns(D), covariance(U, V))
        theta += packed_gradient(0.0, 0.0, np.zeros(F), h.input_map.pull(rows.X[some], dU), logits)
        dV += dV_some
    dV_mm, logits = h.terms.pull_symmetric(kernel, V, found.whitening.pull_factor(products))
    theta[len(theta) - len(logits) :] += logits
    return _with_vectors(theta, vectors, h, dV + dV_mm)


def _with_vectors(theta: Array, vectors: Vectors, h: Hyperparameters, dV: Array) -> tuple[Array, Array | None]:
    """dL/dtheta, from its part at fixed inducing points, and dL/dmoved (m, d) of optimised ones; dV (m, d) = dL/dV."""
    F, k = len(h.alpha), len(h.input_map.widths)
    if vectors.moved is None:
        logits = np.zeros(len(h.terms.logits))
        return theta + packed_gradient(0.0, 0.0, np.zeros(F), h.input_map.pull(vectors.X, dV), logits), None
    pulled = -np.einsum("md,md->d", dV, vectors.mapped(h))
    theta[2 + F : 2 + F + k] += pulled if k == len(pulled) else pulled.sum()
    return theta, dV / h.input_map.widths


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

    def at(self, h: Hyperparameters) -> "EvaluatedBound":
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
        return EvaluatedBound(
            value, found, np.concatenate([[0.5 * (K * self.rows - residual_squares), log_signal_variance], own[:F]])
        )


@dataclass(frozen=True, eq=False)
class EvaluatedBound:
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
) -> tuple[EvaluatedBound, Array, Array | None]:
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
    return reached, *_with_vectors(theta, vectors, h, slopes.vectors + dV)


def _whitened_slopes(sums: RowSums, reached: EvaluatedBound, h: Hyperparameters) -> Array:
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


MIN_RESIDUE = 1e-9
"""The least residual share of a candidate, jitter included: of less it is a copy."""


@dataclass(frozen=True, eq=False)
class Gram:
    """Y'WY of the columns Y of some rows."""

    products: Array

    def __add__(self, other: Self, /) -> "Gram":
        return Gram(self.products + other.products)


@dataclass(frozen=True, eq=False)
class _GramBeside:
    """The reduction to the Gram matrix of Y = [P, Phi, r]: columns in the model, those of M candidates, residuals.

    Phi = (K_c - B reached') scale: `points` (M, d) are the candidates, mapped, `reached` (M, m) their whitened columns
    at the vectors, and `scale` (M,) makes the residual kernel of each with itself 1. r = t - P `mean`.
    """

    candidates: Candidates
    fixed: tuple[int, ...]
    covariance: Covariance | Additive
    h: Hyperparameters
    mapped: Array
    whitening: Whitening
    mean: Array
    points: Array
    reached: Array
    scale: Array

    @property
    def max_rows(self) -> int:
        """The number of rows for which it is called at once."""
        return max_rows_of_gram(max(len(self.mean) + len(self.points) + 1, self.mapped.shape[1]))

    def __call__(self, block: RowBlock, /) -> Gram:
        F, R, U = len(self.fixed), len(self.mean), self.h.input_map(block.X)
        Y = np.empty((len(block), R + len(self.points) + 1))
        Y[:, :F] = self.candidates.columns(block.X, self.fixed)
        B = self.whitening.columns(self.covariance(U, self.mapped), out=Y[:, F:R])
        Y[:, R:-1] = (self.covariance(U, self.points) - B @ self.reached.T) * self.scale
        Y[:, -1] = block.t - Y[:, :R] @ self.mean
        return Gram(Y.T @ block.weighted(Y))


def choose_more(
    problem: Problem,
    fixed: tuple[int, ...],
    vectors: Vectors,
    kernel: Covariance,
    h: Hyperparameters,
    sums: RowSums,
    X: Array,
    *,
    min_gain: float,
    max_functions: int,
) -> Chosen:
    """Choose among the candidates X (M, d) beside the functions in the model, by their gains on all rows.

    For Gaussian noise, rho of 0 and one target a row; `sums` are those of the model. The gains are those of `choose`,
    which depends on rows only through their Gram matrix: a root of that replaces the rows. Exact, jitter included.
    """
    V, U, covariance = vectors.mapped(h), h.input_map(X), h.covariance(kernel)
    jitter = JITTER if h.jitter is None else h.jitter
    whitening = Whitening.of(covariance(V, V), jitter=jitter)
    posterior = sums.at(h).posterior
    reached = whitening.columns(covariance(U, V))
    left = covariance(U, U) - reached @ reached.T
    left.flat[:: len(left) + 1] += jitter
    scale = np.maximum(left.diagonal(), MIN_RESIDUE * jitter) ** -0.5
    beside = _GramBeside(problem.candidates, fixed, covariance, h, V, whitening, posterior.mean, U, reached, scale)
    root = root_of_gram(problem.source.reduce(beside, beside.max_rows).products)
    R, M, beta = len(posterior.mean), len(X), h.beta
    P, Phi, r = root[:, :R] * posterior.alpha**-0.5, root[:, R:-1], root[:, -1:]
    explained = solve_lower(cholesky(np.eye(R) + beta * (P.T @ P)), beta * P.T)
    return choose_beside(
        np.concatenate([left * scale * scale[:, None], Phi]),
        signal_variance=h.signal_variance,
        gradient=np.concatenate([np.zeros((M, 1)), beta * r]),
        precision=np.concatenate([np.zeros(M), np.full(len(root), beta)]),
        explained=np.hstack([np.zeros((R, M)), explained]),
        min_gain=min_gain,
        max_functions=max_functions,
        residue=MIN_RESIDUE,
    )
