"""The log marginal likelihood, its gradient and its curvature in the logarithms of the hyperparameters."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from app.sparse_bayes.factors import Factors
from app.sparse_bayes.posterior import Posterior
from app.sparse_bayes.types import Array


@dataclass(frozen=True, eq=False)
class Evidence:
    """L in nats at alpha (R,) and beta, with the posterior that goes with it.

    `gradient` (R + 1,) and `hessian` (R + 1, R + 1) are in (log alpha_1 ... log alpha_R, log beta). For Gaussian
    noise both are exact; for Laplace's approximation the gradient is, and the Hessian is that of sites held still.
    """

    value: float
    posterior: Posterior
    beta: float
    gradient: Array
    noise_curvature: float

    @cached_property
    def hessian(self) -> Array:
        """Only the places that a climb goes on from ask for it."""
        return _hessian(self.posterior, self.noise_curvature)


def evidence(factors: Factors, alpha: Array, beta: float, start: Array) -> Evidence:
    """L = sum_n ell(t_n, f_n, v_n) - KL(N(mean, Sigma) || N(0, A^-1)), v = diag(P Sigma P').

    For Gaussian noise that is log p(t | alpha, beta) exactly. Else ell = log p(t_n | f_n) - lam_n v_n / 2 makes it
    Laplace's approximation [SCIENCE 1 and 2], and where p is not log-concave ell = E log p(t_n | f_n) or less makes it
    a bound. `start` (R,) is where the mode is looked for.
    """
    rested, data = factors.rest(alpha, beta, start)
    gradient = np.append(_alpha_gradient(factors, rested), data.noise_slope)
    return Evidence(data.value - rested.divergence, rested, beta, gradient, data.noise_curvature)


def _alpha_gradient(factors: Factors, rested: Posterior) -> Array:
    alpha, mean, Sigma = rested.alpha, rested.mean, rested.covariance
    slope = rested.determined / alpha - mean**2
    if not factors.problem.likelihood.constant_precision:
        slope += mean * (Sigma @ factors.skew(rested))
    return np.asarray(0.5 * alpha * slope)


def _hessian(rested: Posterior, noise_curvature: float) -> Array:
    """In units of the prior's sds, so that no alpha is too large: W = A^1/2 Sigma A^1/2, u = A^1/2 mu."""
    R = len(rested.alpha)
    W = rested.whitened
    own, u = W.diagonal(), np.sqrt(rested.alpha) * rested.mean
    pulled = W @ u
    left = own - np.einsum("ij,ij->i", W, W)
    hessian = np.empty((R + 1, R + 1))
    hessian[:R, :R] = 0.5 * W * (W + 2.0 * u[:, None] * u)
    hessian.flat[: R * (R + 2) : R + 2] -= 0.5 * (own + u**2)
    hessian[:R, R] = hessian[R, :R] = 0.5 * left - u * pulled
    hessian[R, R] = noise_curvature - 0.5 * float(left.sum()) + float(u @ pulled)
    return hessian


def sparsity_and_quality(rested: Posterior) -> tuple[Array, Array]:
    """s and q (R,) of the functions in the model, each with itself left out [FAUL2002; SCIENCE 1].

    s = 1/Sigma_mm - alpha, q = mu_m/Sigma_mm.
    """
    own = rested.covariance.diagonal()
    return rested.determined / own, rested.mean / own


def quality_over_sparsity(rested: Posterior) -> Array:
    """q^2/s (R,) of the functions in the model: above 1, the best alpha is finite [FAUL2002]."""
    weight = np.maximum(rested.covariance.diagonal() * rested.determined, TINY)
    return rested.mean**2 / weight


TINY = float(np.finfo(float).tiny)


def gain(s: Array, q: Array) -> Array:
    """Nats by which L rises when a function enters at its best alpha = s^2/(q^2 - s), 0 where q^2 <= s [FAUL2002]."""
    ratio = np.maximum(np.divide(q**2, s, out=np.ones_like(s), where=s > 0.0), 1.0)
    return 0.5 * (ratio - 1.0 - np.log(ratio))
