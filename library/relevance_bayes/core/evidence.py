"""The log marginal likelihood, its gradient and its curvature in the logarithms of the hyperparameters."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from relevance_bayes.core.factors import Factors
from relevance_bayes.core.posterior import Posterior, as_columns
from relevance_bayes.core.types import Array


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
