"""The log marginal likelihood: its gradient and curvature in the logarithms of the hyperparameters, and its value as a
model reports it, also with these integrated out.

The maximised evidence can't be compared, since each precision was chosen by it. The integral is Laplace's approximation
over the logarithms of the hyperparameters, under weak hyperpriors [THEORY 17].
"""

from dataclasses import dataclass
from functools import cached_property
from math import lgamma, log, pi
from typing import Literal

import numpy as np

from relevance_bayes.core.factors import Factors
from relevance_bayes.core.posterior import Posterior, as_columns
from relevance_bayes.core.types import Array

EvidenceKind = Literal["exact", "laplace", "lower_bound"]

USUAL_LOG_BETA = 2.0
"""Mean of the hyperprior on log beta, in units of the targets' square; those of log alpha and log s are 0."""

WIDE = 3.0
"""Standard deviation of the normal hyperprior on each logarithm, in standardised units."""


@dataclass(frozen=True)
class LogEvidence:
    """log p(t | hyperparameters) in the targets' own units, in nats; no figure includes another.

    `value` is exact for Gaussian noise under independent weights or the whole of a process, Laplace's approximation for
    log-concave likelihoods under independent weights, else a lower bound: that of a process through few functions
    [TITSIAS2009; HENSMAN2015], of Student's t, of coupled classes. `log_hyperprior` is the log density of the learned
    hyperparameters under their priors, normalised where these are proper, 0 without any, None in versions that
    predate it; `price` is the price of choice of the functions in the model, log C(M, R) and at least a nat each, 0
    without a price.
    """

    value: float
    kind: EvidenceKind
    log_hyperprior: float | None = 0.0
    price: float = 0.0


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
class Evidence:
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


def evidence(factors: Factors, alpha: Array, beta: float, start: Array) -> Evidence:
    """L = sum_n ell(t_n, f_n, v_n) - KL(N(mean, Sigma) || N(0, A^-1)), v = diag(P Sigma P').

    For Gaussian noise that is log p(t | alpha, beta) exactly. Else ell = log p(t_n | f_n) - lam_n v_n / 2 makes it
    Laplace's approximation [THEORY 1 and 14], and where p is not log-concave ell = E log p(t_n | f_n) or less makes it
    a bound. `start` (R,), or (R, K), is the start of the search for the mode.
    """
    posterior, data = factors.posterior(alpha, beta, start)
    gradient = np.append(_alpha_gradient(factors, posterior), data.noise_slope)
    return Evidence(data.value - posterior.divergence, posterior, beta, gradient, data.noise_curvature)


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
