"""Factors where the sites depend on the latent: by Laplace's approximation [TIPPING1999, section 4], or by a bound."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from relevance_bayes.core.coupled import maximised
from relevance_bayes.core.factors.base import CandidateStatistics, is_in_span, with_uncertainty
from relevance_bayes.core.likelihoods import Likelihood
from relevance_bayes.core.linalg import orthonormal
from relevance_bayes.core.posterior import Columns, DataTerm, Posterior, Sums, as_columns, newton_step, posterior
from relevance_bayes.core.problem import Problem
from relevance_bayes.core.types import Array, Indices

MAX_NEWTON_STEPS = 100
"""Far more than the mode of a log-concave posterior needs."""

SHARES = tuple(0.5**k for k in range(20))
"""The shares of a Newton step that are tried, in this order, until the log posterior rises sufficiently."""

MODE_TOLERANCE = 1e-10
"""Newton's method takes its last step when that would raise the log posterior by less than this share of its size."""


BOUND_TOLERANCE = 1e-13
"""The tolerance of coupled sites where Newton's method optimises the precisions, which needs more digits than
L-BFGS."""


@dataclass(frozen=True, eq=False)
class MovingFactors(ABC):
    """Factors where the sites' precision depends on f.

    Sums are passes over the columns in the model, statistics are passes over all candidates.
    """

    problem: Problem
    active: tuple[int, ...]
    P: Array

    @cached_property
    def heights(self) -> Array:
        return np.asarray(np.abs(self.P).max(axis=0, initial=0.0))

    def is_spanned(self, number: int) -> bool:
        return is_in_span(self.problem.columns((number,))[:, 0], self._span)

    @cached_property
    def _span(self) -> Array:
        return orthonormal(self.P)

    def added(self, number: int, weights: Array) -> Self:
        return replace(self, active=(*self.active, number), P=np.hstack([self.P, self.problem.columns((number,))]))

    def keeping(self, kept: Indices, weights: Array) -> Self:
        return replace(self, active=tuple(self.active[k] for k in kept), P=self.P[:, kept])

    @abstractmethod
    def sites(self, posterior: Posterior, beta: float) -> tuple[Array, Array]:
        """Precision (N,) and gradient (N,), or (N, K), at the posterior."""

    def pull(self, posterior: Posterior, beta: float) -> Array:
        """g mean' - K diag(lam) P Sigma: at the maximum the posterior is stationary [THEORY 15]."""
        precision, gradient = self.sites(posterior, beta)
        lam = posterior.latents * precision
        return as_columns(gradient) @ as_columns(posterior.mean).T - lam[:, None] * (self.P @ posterior.covariance)

    def candidate_statistics(self, posterior: Posterior, beta: float) -> CandidateStatistics:
        precision, gradient = self.sites(posterior, beta)
        weighted = precision[:, None] * self.P
        towards = np.column_stack([weighted, gradient])
        products, alone = self.problem.products_and_norms(towards, precision)
        crosses, Q = np.split(products, [len(self.active)], axis=1)
        S = alone - np.einsum("mr,mr->m", crosses @ posterior.covariance, crosses)
        return CandidateStatistics(S, Q.reshape(len(alone), *gradient.shape[1:]), alone)


class LaplaceFactors(MovingFactors):
    """Sites at the mode: Laplace's approximation, for log-concave likelihoods of one latent a row."""

    def sums(self, weights: Array, beta: float) -> Sums:
        """Sums over rows at weights (R,), in O(N R^2)."""
        likelihood, t = self.problem.likelihood, self.problem.t
        f = self.P @ weights
        precision, gradient = likelihood.sites(t, f, beta)
        value = float(likelihood.log_density(t, f, beta).sum())
        return Sums(value, 0.0, 0.0, self.P.T @ gradient, self.P.T @ (precision[:, None] * self.P))

    def posterior(self, alpha: Array, beta: float, start: Array) -> tuple[Posterior, DataTerm]:
        """Newton's method, a step halved while the log posterior falls.

        The last step is a full one, which squares the remaining error.
        """
        weights, sums = start, self.sums(start, beta)
        height = sums.value - 0.5 * float(alpha @ weights**2)
        step = newton_step(sums, weights, alpha)
        for _ in range(MAX_NEWTON_STEPS):
            predicted_rise = float(step @ (sums.slope - alpha * weights))
            if predicted_rise <= MODE_TOLERANCE * (1.0 + abs(height)):
                break
            for share in SHARES:
                tried = weights + share * step
                there = self.sums(tried, beta)
                reached = there.value - 0.5 * float(alpha @ tried**2)
                if reached >= height + 1e-4 * share * predicted_rise:
                    weights, sums, height = tried, there, reached
                    break
            else:
                break
            step = newton_step(sums, weights, alpha)
        sums = self.sums(weights + step, beta)
        found = posterior(sums, weights + step, alpha)
        return found, with_uncertainty(found, sums)

    def tuned(self, posterior: Posterior, beta: float) -> Likelihood:
        return self.problem.likelihood

    def sites(self, posterior: Posterior, beta: float) -> tuple[Array, Array]:
        return self.problem.likelihood.sites(self.problem.t, self.P @ posterior.mean, beta)

    def skew(self, posterior: Posterior) -> Array:
        return np.asarray(self.P.T @ self._curvature_slope(posterior))

    def pull(self, posterior: Posterior, beta: float) -> Array:
        """The same plus the change of the curvature as the mode moves by Sigma (dP'g - P'diag(lam) dP mean) [THEORY
        14].

        With u = -1/2 h o d lam/d f and w = Sigma P'u: g w' + (u - lam o P w) mean'.
        """
        precision, gradient = self.sites(posterior, beta)
        u = -0.5 * self._curvature_slope(posterior)
        w = posterior.covariance @ (self.P.T @ u)
        moved = u - precision * (self.P @ w)
        return super().pull(posterior, beta) + gradient[:, None] * w + moved[:, None] * posterior.mean

    def _curvature_slope(self, posterior: Posterior) -> Array:
        """h o d lam/d f, (N,), h = diag(P Sigma P')."""
        spread = np.einsum("nr,nr->n", self.P @ posterior.covariance, self.P)
        return np.asarray(spread * self.problem.likelihood.precision_slope(self.problem.t, self.P @ posterior.mean))


class BoundFactors(MovingFactors):
    """Sites at N(f, v): a lower bound of the evidence, for likelihoods with more than one mode or several latents."""

    def posterior(self, alpha: Array, beta: float, start: Array) -> tuple[Posterior, DataTerm]:
        problem = self.problem
        certain, likelihood, columns = np.zeros(problem.rows), problem.likelihood, Columns.stored(self.P)
        found = maximised(columns, problem.t, certain, alpha, likelihood, beta, start=start, tolerance=BOUND_TOLERANCE)
        half = 0.5 * found.posterior.latents * float(found.posterior.determined.sum())
        sites = found.sites
        value = found.value + found.posterior.divergence
        return found.posterior, DataTerm(value, sites.noise_slope, sites.noise_curvature + half)

    def tuned(self, posterior: Posterior, beta: float) -> Likelihood:
        return self.problem.likelihood.tuned(self.problem.t, *self._latents(posterior), beta)

    def skew(self, posterior: Posterior) -> Array:
        return np.zeros_like(posterior.mean)

    def sites(self, posterior: Posterior, beta: float) -> tuple[Array, Array]:
        sites = self.tuned(posterior, beta).expected(self.problem.t, *self._latents(posterior), beta)
        return sites.precision, sites.gradient

    def _latents(self, posterior: Posterior) -> tuple[Array, Array]:
        return self.P @ posterior.mean, np.einsum("nr,nr->n", self.P @ posterior.covariance, self.P)
