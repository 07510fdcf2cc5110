"""Factors where the sites' precisions are known up to one factor."""

from dataclasses import dataclass
from functools import cached_property
from math import log, pi

import numpy as np

from relevance_bayes.core.factors.base import CandidateStatistics, extended, is_in_span, with_uncertainty
from relevance_bayes.core.likelihoods import Likelihood
from relevance_bayes.core.linalg import orthonormal
from relevance_bayes.core.posterior import DataTerm, Posterior, Sums, as_columns, posterior, with_zero
from relevance_bayes.core.problem import Problem
from relevance_bayes.core.types import Array, Indices


@dataclass(frozen=True, eq=False)
class FixedFactors:
    """Factors where sites have precisions beta w for any f: one pass to add a function, none to remove one.

    Residuals are taken at `origin` (R,), weights near the mean, so that nothing is lost to cancellation at low
    noise: `gram` (R, R) = P'WP, `slope` (R,) = P'Wr, `square` = r'Wr, `candidate_slope` (M,) = Phi'Wr; `crosses`
    (M, R) = Phi'WP, `norms` (M,) = diag(Phi'WPhi). W = diag(w) is I where all rows have one precision. Where a row has
    K latents, residuals are (N, K), their products have K columns, and `square` is summed over all. `span` is an
    orthonormal basis of that of P, None where it has to be recomputed.
    """

    problem: Problem
    active: tuple[int, ...]
    P: Array
    gram: Array
    origin: Array
    slope: Array
    square: float
    crosses: Array
    candidate_slope: Array
    norms: Array
    span: Array | None = None

    @classmethod
    def build(cls, problem: Problem, active: tuple[int, ...], weights: Array) -> "FixedFactors":
        """The factors at `weights` (R,), or (R, K), by one pass over the candidates."""
        P = problem.columns(active)
        r = problem.t - P @ weights
        weighted, left = problem.every.weighted(P), problem.every.weighted(r)
        products, norms = problem.products_and_norms(np.column_stack([weighted, left]), problem.precisions)
        return cls(
            problem,
            active,
            P,
            P.T @ weighted,
            weights,
            P.T @ left,
            float(np.vdot(r, left)),
            products[:, : len(active)],
            products[:, len(active) :].reshape(len(norms), *r.shape[1:]),
            norms,
        )

    @classmethod
    def without_candidates(cls, problem: Problem, P: Array, weights: Array) -> "FixedFactors":
        """The factors of columns P (N, R) without candidates."""
        r = problem.t - P @ weights
        left, none = problem.every.weighted(r), np.empty(0)
        gram, active = P.T @ problem.every.weighted(P), tuple(range(P.shape[1]))
        square = float(np.vdot(r, left))
        return cls(problem, active, P, gram, weights, P.T @ left, square, np.empty((0, len(gram))), none, none)

    @cached_property
    def heights(self) -> Array:
        return np.asarray(np.abs(self.P).max(axis=0, initial=0.0))

    def is_spanned(self, number: int) -> bool:
        return is_in_span(self.problem.columns((number,))[:, 0], self._span)

    @cached_property
    def _span(self) -> Array:
        return orthonormal(self.P) if self.span is None else self.span

    def added(self, number: int, weights: Array) -> "FixedFactors":
        p = self.problem.columns((number,))
        r = self.problem.t - self.P @ weights
        towards, left = self.problem.every.weighted(p), self.problem.every.weighted(r)
        crosses = self.problem.products(towards)
        P = np.concatenate([self.P, p], axis=1)
        gram = np.empty((P.shape[1], P.shape[1]))
        gram[:-1, :-1] = self.gram
        gram[-1, :] = gram[:, -1] = P.T @ towards[:, 0]
        return FixedFactors(
            self.problem,
            (*self.active, number),
            P,
            gram,
            with_zero(weights),
            P.T @ left,
            float(np.vdot(r, left)),
            np.concatenate([self.crosses, crosses], axis=1),
            self.candidate_slope - self.crosses @ (weights - self.origin),
            self.norms,
            extended(self._span, p[:, 0]),
        )

    def keeping(self, kept: Indices, weights: Array) -> "FixedFactors":
        moved = -self.origin
        moved[kept] += weights[kept]
        r = self.problem.t - self.P[:, kept] @ weights[kept]
        left = self.problem.every.weighted(r)
        return FixedFactors(
            self.problem,
            tuple(self.active[k] for k in kept),
            self.P[:, kept],
            self.gram[np.ix_(kept, kept)],
            weights[kept],
            self.P[:, kept].T @ left,
            float(np.vdot(r, left)),
            self.crosses[:, kept],
            self.candidate_slope - self.crosses @ moved,
            self.norms,
        )

    def sums(self, weights: Array, beta: float) -> Sums:
        """Sums over rows at weights (R,), or (R, K), in O(K R^2)."""
        moved = weights - self.origin
        turned = self.gram @ moved
        square = max(self.square - float(np.vdot(moved, 2.0 * self.slope - turned)), 0.0)
        numbers, residual_squares = self.problem.t.size, beta * square
        log_precisions = self.problem.likelihood.latents * self.problem.every.log_precisions
        value = 0.5 * (numbers * log(beta / (2.0 * pi)) + log_precisions - residual_squares)
        return Sums(
            value,
            0.5 * (numbers - residual_squares),
            -0.5 * residual_squares,
            beta * (self.slope - turned),
            beta * self.gram,
        )

    def posterior(self, alpha: Array, beta: float, start: Array) -> tuple[Posterior, DataTerm]:
        at_origin = Sums(0.0, 0.0, 0.0, beta * self.slope, beta * self.gram)
        found = posterior(at_origin, self.origin, alpha)
        return found, with_uncertainty(found, self.sums(found.mean, beta))

    def tuned(self, posterior: Posterior, beta: float) -> Likelihood:
        return self.problem.likelihood

    def skew(self, posterior: Posterior) -> Array:
        return np.zeros_like(posterior.mean)

    def pull(self, posterior: Posterior, beta: float) -> Array:
        """beta W [(t - P mean) mean' - K P Sigma] [TIPPING2001, appendix C]."""
        residual, mean = as_columns(self.problem.t - self.P @ posterior.mean), as_columns(posterior.mean)
        weighted = self.problem.every.weighted(residual @ mean.T - posterior.latents * (self.P @ posterior.covariance))
        return np.asarray(beta * weighted)

    def candidate_statistics(self, posterior: Posterior, beta: float) -> CandidateStatistics:
        projected = self.crosses @ posterior.covariance
        alone = beta * self.norms
        S = alone - beta**2 * np.einsum("mr,mr->m", projected, self.crosses)
        return CandidateStatistics(
            S, beta * (self.candidate_slope - self.crosses @ (posterior.mean - self.origin)), alone
        )
