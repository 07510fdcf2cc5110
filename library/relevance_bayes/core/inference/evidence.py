"""The log marginal likelihood: its gradient and curvature in the logarithms of the hyperparameters, and its value as a
model reports it, also with these integrated out.

The maximised evidence can't be compared, since each precision was chosen by it. The integral is Laplace's approximation
over the logarithms of the hyperparameters, under weak hyperpriors [THEORY 17].
"""

from dataclasses import dataclass
from functools import cached_property
from math import inf, lgamma, log, pi

import numpy as np

from relevance_bayes.core.inference.factors import Factors
from relevance_bayes.core.inference.posterior import Posterior, as_columns
from relevance_bayes.core.linalg import cholesky, solve_lower
from relevance_bayes.core.types import Array, ForRows, Indices

USUAL_LOG_BETA = 2.0
"""Mean of the hyperprior on log beta, in units of the targets' square; those of log alpha and log s are 0."""

WIDE = 3.0
"""Standard deviation of the normal hyperprior on each logarithm, in standardised units."""


@dataclass(frozen=True)
class Integral:
    """log of the evidence integrated over hyperparameters, in nats.

    `value` over all but the input map's; integrating over those adds `input_map`, 0 where the map was given.
    """

    value: float
    input_map: float = 0.0


@dataclass(frozen=True, eq=False)
class Peak:
    """The maximum of L in nats, less the price of choices, and the curvature there.

    `curvature` (n, n) is minus the Hessian of L in the hyperparameters; `log_prior` the log density of the hyperpriors,
    `slope` (n,) and `precision` (n,) its first and minus its second derivatives.
    """

    value: float
    log_prior: float
    slope: Array
    precision: Array
    curvature: Array

    @property
    def integral(self) -> float:
        """log of the integral over the hyperparameters, in nats.

        At the maximum of the quadratic form, which is at the hyperprior's mean in directions that L does not depend
        on. Eigenvalues are at least those of the hyperprior.
        """
        eigenvalues, vectors = np.linalg.eigh(self.curvature + np.diag(self.precision))
        eigenvalues = np.maximum(eigenvalues, WIDE**-2)
        rise = 0.5 * float(np.sum((vectors.T @ self.slope) ** 2 / eigenvalues))
        volume = 0.5 * float(len(self.slope) * log(2.0 * pi) - np.log(eigenvalues).sum())
        return self.value + self.log_prior + rise + volume


def normal(offsets: Array, sd: float = WIDE) -> tuple[float, Array, Array]:
    """log N(offset; 0, sd^2) summed over (n,), its slope (n,) and its precision (n,)."""
    precision = np.full(len(offsets), sd**-2)
    value = -0.5 * float(np.sum(offsets**2)) / sd**2 - len(offsets) * log(sd * (2.0 * pi) ** 0.5)
    return value, -offsets / sd**2, precision


def cauchy(values: Array, scale: float) -> tuple[float, Array, Array]:
    """log of Cauchy's density summed over (n,), its slope (n,), and minus its second derivative (n,), at least 0."""
    squares = values**2 + scale**2
    value = -float(np.log1p((values / scale) ** 2).sum()) - len(values) * log(pi * scale)
    return value, -2.0 * values / squares, np.maximum(2.0 * (scale**2 - values**2) / squares**2, 0.0)


def log_choices(candidates: int, chosen: int) -> float:
    """log C(M, R) in nats."""
    return lgamma(candidates + 1.0) - lgamma(chosen + 1.0) - lgamma(candidates - chosen + 1.0)


@dataclass(frozen=True, eq=False)
class EvaluatedEvidence:
    """L in nats at alpha (R,) and beta, with the posterior there.

    `gradient` (R + 1,) and `hessian` (R + 1, R + 1) are in (log alpha_1 ... log alpha_R, log beta). For Gaussian
    noise both are exact; for Laplace's approximation and for bounds the gradient is, and the Hessian is that at fixed
    sites. K latents of a row share alpha and the covariance: sums are over all of them.
    """

    value: float
    posterior: Posterior
    beta: float
    gradient: Array
    noise_curvature: float

    @cached_property
    def hessian(self) -> Array:
        """The Hessian (R + 1, R + 1), computed only where an ascent continues."""
        return _hessian(self.posterior, self.noise_curvature)


def evidence(factors: Factors, alpha: Array, beta: float, start: Array) -> EvaluatedEvidence:
    """L = sum_n ell(t_n, f_n, v_n) - KL(N(mean, Sigma) || N(0, A^-1)), v = diag(P Sigma P').

    For Gaussian noise that is log p(t | alpha, beta) exactly. Else ell = log p(t_n | f_n) - lam_n v_n / 2 makes it
    Laplace's approximation [THEORY 1 and 14], and where p is not log-concave ell = E log p(t_n | f_n) or less makes it
    a bound. `start` (R,), or (R, K), is the start of the search for the mode.
    """
    posterior, data = factors.posterior(alpha, beta, start)
    gradient = np.append(_alpha_gradient(factors, posterior), data.noise_slope)
    return EvaluatedEvidence(data.value - posterior.divergence, posterior, beta, gradient, data.noise_curvature)


def _alpha_gradient(factors: Factors, posterior: Posterior) -> Array:
    alpha = posterior.alpha
    slope = posterior.latents * posterior.determined / alpha - posterior.squares
    if not factors.problem.likelihood.has_constant_precision:
        slope += as_columns(posterior.mean * (posterior.covariance @ factors.skew(posterior))).sum(axis=1)
    return np.asarray(0.5 * alpha * slope)


def _hessian(posterior: Posterior, noise_curvature: float) -> Array:
    """In units of the prior's sds, so that no alpha is too large: W = A^1/2 Sigma A^1/2, U = A^1/2 mean (R, K).

    1/2 W o (K W + 2 U U') - 1/2 diag(K W_ii + |U_i|^2) in log alpha, of [FAUL2002, eqs 22 to 24] in alpha.
    """
    R, K = len(posterior.alpha), posterior.latents
    W = posterior.whitened
    own, U = W.diagonal(), np.sqrt(posterior.alpha)[:, None] * as_columns(posterior.mean)
    pulled = np.einsum("rk,rk->r", U, W @ U)
    left = K * (own - np.einsum("ij,ij->i", W, W))
    hessian = np.empty((R + 1, R + 1))
    hessian[:R, :R] = 0.5 * W * (K * W + 2.0 * (U @ U.T))
    hessian.flat[: R * (R + 2) : R + 2] -= 0.5 * (K * own + np.square(U).sum(axis=1))
    hessian[:R, R] = hessian[R, :R] = 0.5 * left - pulled
    hessian[R, R] = noise_curvature - 0.5 * float(left.sum()) + float(pulled.sum())
    return hessian


def sparsity_and_quality(posterior: Posterior) -> tuple[Array, Array]:
    """s (R,) and q (R,), or (R, K), of the functions in the model, each with itself left out [FAUL2002, eqs 16 and 20].

    s = 1/Sigma_mm - alpha, q = mu_m/Sigma_mm.
    """
    own = posterior.covariance.diagonal()
    return posterior.determined / own, (posterior.mean.T / own).T


def mean_square(q: Array) -> Array:
    """The q^2 of the closed forms where q is (M, K): its mean over the latents, (M,).

    Summed over K latents of one alpha and one s, l = K/2 [log alpha - log(alpha + s) + mean_k q_k^2/(alpha + s)].
    """
    return np.asarray(np.square(as_columns(q)).mean(axis=1))


def quality_over_sparsity(posterior: Posterior) -> Array:
    """q^2/s (R,) of the functions in the model: above 1, the best alpha is finite [FAUL2002, eq. 17]."""
    weight = np.maximum(posterior.covariance.diagonal() * posterior.determined, TINY)
    with np.errstate(over="ignore"):  # infinite where the data don't determine the weight
        return np.asarray(posterior.squares / (posterior.latents * weight))


TINY = float(np.finfo(float).tiny)


def gain(s: Array, q: Array) -> Array:
    """Nats by which L rises when a function enters at its best alpha, 0 where that is infinite.

    alpha = s^2/(q^2 - s) where q^2 > s [FAUL2002, eq. 17]. s (M,), q (M,) or (M, K), whose `mean_square` is q^2.
    """
    ratio = np.maximum(np.divide(mean_square(q), s, out=np.ones_like(s), where=s > 0.0), 1.0)
    return np.asarray(0.5 * as_columns(q).shape[1] * (ratio - 1.0 - np.log(ratio)))


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
