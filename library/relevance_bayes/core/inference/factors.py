"""The columns in the model and their products, kept beside a state and rebuilt at checkpoints.

Where the sites' precisions are known up to one factor they are fixed. Where the sites depend on the latent they are
found by Laplace's approximation [TIPPING1999, section 4], or by a bound.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from math import log, pi
from typing import Protocol, Self

import numpy as np

from relevance_bayes.core.inference.coupled import TOLERANCE as TOLERANCE_OF_COUPLED
from relevance_bayes.core.inference.coupled import TOLERANCE_NEAR, maximise_coupled
from relevance_bayes.core.inference.posterior import TOLERANCE as FINAL_TOLERANCE
from relevance_bayes.core.inference.posterior import (
    Columns,
    DataTerm,
    LatentSites,
    Optimum,
    Posterior,
    Sums,
    as_columns,
    maximise_bound,
    newton_step,
    posterior,
    with_zero,
)
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.likelihoods import Coupled, Likelihood
from relevance_bayes.core.linalg import orthonormal
from relevance_bayes.core.types import Array, ForRows, Indices

SPAN = 1e-10
"""A candidate with less than this share of its squared norm outside the span of those in the model counts as a copy.
The statistics can't show it: where functions are nearly in each other's span, S is a difference of large terms and
consists of rounding, more so with each such function that enters."""


@dataclass(frozen=True, eq=False)
class CandidateStatistics:
    """S (M,) = phi'C^-1 phi and Q (M,), or (M, K), = phi'C^-1 t of every candidate [THEORY 3].

    `alone` (M,) = phi'diag(lam)phi is S for an empty model.
    """

    S: Array
    Q: Array
    alone: Array


class Factors(Protocol):
    """Columns P (N, R) of the functions in the model, with what makes sums over rows and statistics of candidates
    cheap."""

    @property
    def problem(self) -> Problem: ...

    @property
    def active(self) -> tuple[int, ...]: ...

    @property
    def P(self) -> Array:
        """P (N, R)."""

    def is_spanned(self, number: int) -> bool:
        """True where candidate `number` is in the span of the functions in the model, up to a share SPAN of its
        square."""

    @property
    def heights(self) -> Array:
        """The greatest size of each function in the model on the rows, (R,)."""

    def added(self, number: int, weights: Array) -> Self:
        """With candidate `number` last; `weights` (R,), or (R, K), of those already in are near the mean."""

    def keeping(self, kept: Indices, weights: Array) -> Self:
        """With only the functions at the positions `kept` (S,), each from 0 to R - 1; `weights` as before."""

    def posterior(self, alpha: Array, beta: float, start: Array) -> tuple[Posterior, DataTerm]:
        """The posterior under alpha (R,) and beta, searched for from `start`, and its data term."""

    def tuned(self, posterior: Posterior, beta: float) -> Likelihood:
        """The likelihood with its own parameters at their maximum."""

    def skew(self, posterior: Posterior) -> Array:
        """P'(h o d lam/d f), h = diag(P Sigma P'), as the mean (R,) or (R, K): the change of the curvature by the mode.

        0 where the curvature does not change.
        """

    def pull(self, posterior: Posterior, beta: float) -> Array:
        """dL/dP (N, R) at the posterior, at fixed precisions, summed over the latents."""

    def candidate_statistics(self, posterior: Posterior, beta: float) -> CandidateStatistics:
        """The statistics of every candidate, given all functions in the model."""


def is_in_span(p: Array, span: Array) -> bool:
    """True where p (N,) is in the span of orthonormal columns (N, R), up to a share SPAN of its square."""
    return _is_nothing(_residual(p, span), p)


def extended(span: Array, p: Array) -> Array:
    """Orthonormal columns (N, R) extended so that their span contains p (N,); unchanged where it does."""
    left = _residual(p, span)
    return span if _is_nothing(left, p) else np.column_stack([span, left / np.linalg.norm(left)])


def _is_nothing(left: Array, p: Array) -> bool:
    return bool(left @ left <= SPAN * (p @ p))


def _residual(p: Array, span: Array) -> Array:
    """The part of p (N,) outside a span, which is projected out twice: once leaves rounding of the size of p."""
    left = p - span @ (p @ span)
    return np.asarray(left - span @ (left @ span))


def with_uncertainty(posterior: Posterior, sums: Sums) -> DataTerm:
    """ell = log p(t_n | f_n) - lam_n v_n / 2, the latter for each latent: sum lam v = sum gamma."""
    half = 0.5 * posterior.latents * float(posterior.determined.sum())
    return DataTerm(sums.value - half, sums.noise_slope - half, sums.noise_curvature)


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


def build(problem: Problem, active: tuple[int, ...], weights: Array) -> Factors:
    """Factors of the active candidates; `weights` (R,), or (R, K), near the mean."""
    if problem.likelihood.has_constant_precision:
        return FixedFactors.build(problem, active, weights)
    moving = _moving(problem)
    return moving(problem, active, problem.columns(active))


def without_candidates(problem: Problem, P: Array, weights: Array) -> Factors:
    """Factors of columns P (N, R) without candidates."""
    if problem.likelihood.has_constant_precision:
        return FixedFactors.without_candidates(problem, P, weights)
    moving = _moving(problem)
    return moving(problem, tuple(range(P.shape[1])), P)


def _moving(problem: Problem) -> type[LaplaceFactors] | type[BoundFactors]:
    return LaplaceFactors if problem.likelihood.is_log_concave else BoundFactors


def maximised(
    columns: Columns,
    t: Array,
    c: Array,
    alpha: Array,
    likelihood: Likelihood,
    beta: ForRows,
    *,
    start: Array | None = None,
    tolerance: float = TOLERANCE_OF_COUPLED,
    near: Optimum | None = None,
    first: LatentSites | None = None,
    tolerance_of_sites: float | None = None,
) -> Optimum:
    """The maximum of L by any likelihood, at c (N,) and alpha (R,); `start` and `tolerance` as in `maximise_coupled`.

    `near` is the result of a similar problem of as many functions and the same rows, from which the iteration starts
    and converges sooner; so it does from sites `first` at the same rows where a row's latents aren't coupled.
    Then the sites converge to the share `tolerance_of_sites` of 1 + |L|, by default TOLERANCE_NEAR where they start
    from others.
    """
    if isinstance(likelihood, Coupled):
        start = start if near is None else near.posterior.mean
        return maximise_coupled(columns.array(), t, c, alpha, likelihood, start=start, tolerance=tolerance)
    first = first if near is None else near.latent_sites
    if tolerance_of_sites is None:
        tolerance_of_sites = FINAL_TOLERANCE if first is None else TOLERANCE_NEAR
    return maximise_bound(columns, t, c, alpha, likelihood, beta, first=first, tolerance=tolerance_of_sites)
