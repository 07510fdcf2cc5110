"""What is kept beside a state: the columns in the model and their products.

Dropped and rebuilt at every resting state.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from math import log, pi
from typing import Protocol, Self

import numpy as np

from app.sparse_bayes.likelihoods import Likelihood
from app.sparse_bayes.posterior import DataTerm, Posterior, Sums, newton_step, posterior
from app.sparse_bayes.problem import Problem
from app.sparse_bayes.types import Array, Indices
from app.sparse_bayes.variational import settle

MOST_NEWTON_STEPS = 100
"""A log-concave posterior's mode is reached in far fewer."""

SPAN = 1e-9
"""A candidate of which less than this share of its squared norm lies outside the span of those in the model is taken
for a copy; so is one whose squared correlation with a function in the model is nearer to 1."""

SHARES = tuple(0.5**k for k in range(20))
"""What is tried of a Newton step, in this order, until the log posterior rises as it should."""

MODE_TOLERANCE = 1e-10
"""Newton's method takes its last step when that would raise the log posterior by less than this share of its size."""


@dataclass(frozen=True, eq=False)
class Look:
    """S = phi'C^-1 phi and Q = phi'C^-1 t of every candidate, each (M,) [SCIENCE 1].

    `alone` (M,) = phi'diag(lam)phi is what S would be with nothing in the model.
    """

    S: Array
    Q: Array
    alone: Array


class Factors(Protocol):
    """Columns P (N, R) of the functions in the model, with what makes sums over rows and looks at candidates cheap."""

    @property
    def problem(self) -> Problem: ...

    @property
    def active(self) -> tuple[int, ...]: ...

    @property
    def P(self) -> Array: ...

    def alike(self, number: int) -> bool:
        """Whether candidate `number` is, but for its size, a function in the model."""

    @property
    def heights(self) -> Array:
        """The greatest size of each function in the model on the rows, (R,)."""

    def added(self, number: int, weights: Array) -> Self:
        """With candidate `number` last; `weights` (R,) of those already in are near the mean."""

    def keeping(self, kept: Indices, weights: Array) -> Self:
        """With only the functions at the positions `kept` (each 0 to R - 1); `weights` (R,) as before."""

    def rest(self, alpha: Array, beta: float, start: Array) -> tuple[Posterior, DataTerm]:
        """The posterior under alpha (R,) and beta, looked for from `start` (R,), and what it makes of the data."""

    def tuned(self, rested: Posterior, beta: float) -> Likelihood:
        """The likelihood with what it learns itself at its best."""

    def skew(self, rested: Posterior) -> Array:
        """P'(h o d lam/d f), (R,), h = diag(P Sigma P'): how the curvature turns as the mode moves; else 0."""

    def look(self, rested: Posterior, beta: float) -> Look:
        """Every candidate, everything in the model taken into account."""


def build(problem: Problem, active: tuple[int, ...], weights: Array) -> Factors:
    """Factors from scratch; `weights` (R,) near the mean."""
    if problem.likelihood.constant_precision:
        return FixedFactors.build(problem, active, weights)
    moving = LaplaceFactors if problem.likelihood.log_concave else BoundFactors
    return moving(problem, active, problem.columns(active))


@dataclass(frozen=True, eq=False)
class FixedFactors:
    """Where every site has the same precision beta: one pass for a function that enters, none for one that leaves.

    Residuals are taken at `origin` (R,), weights near the mean, so that nothing is lost to cancellation however small
    the noise: `slope` (R,) = P'r, `square` = r'r, `candidate_slope` (M,) = Phi'r; `crosses` (M, R) = Phi'P, `norms`
    (M,) = diag(Phi'Phi).
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

    @classmethod
    def build(cls, problem: Problem, active: tuple[int, ...], weights: Array) -> "FixedFactors":
        """Everything in one pass over the candidates."""
        P = problem.columns(active)
        r = problem.t - P @ weights
        towards = np.column_stack([P, r])
        products, norms = problem.look(towards)
        return cls(
            problem, active, P, P.T @ P, weights, P.T @ r, float(r @ r), products[:, :-1], products[:, -1], norms
        )

    @cached_property
    def heights(self) -> Array:
        return np.asarray(np.abs(self.P).max(axis=0, initial=0.0))

    def alike(self, number: int) -> bool:
        squares = self.norms[number] * self.gram.diagonal()
        return bool((self.crosses[number] ** 2 > (1.0 - SPAN) * squares).any())

    def added(self, number: int, weights: Array) -> "FixedFactors":
        p = self.problem.columns((number,))
        r = self.problem.t - self.P @ weights
        crosses = self.problem.products(p)
        P = np.concatenate([self.P, p], axis=1)
        gram = np.empty((P.shape[1], P.shape[1]))
        gram[:-1, :-1] = self.gram
        gram[-1, :] = gram[:, -1] = P.T @ p[:, 0]
        return FixedFactors(
            self.problem,
            (*self.active, number),
            P,
            gram,
            np.append(weights, 0.0),
            P.T @ r,
            float(r @ r),
            np.concatenate([self.crosses, crosses], axis=1),
            self.candidate_slope - self.crosses @ (weights - self.origin),
            self.norms,
        )

    def keeping(self, kept: Indices, weights: Array) -> "FixedFactors":
        moved = -self.origin
        moved[kept] += weights[kept]
        r = self.problem.t - self.P[:, kept] @ weights[kept]
        return FixedFactors(
            self.problem,
            tuple(self.active[k] for k in kept),
            self.P[:, kept],
            self.gram[np.ix_(kept, kept)],
            weights[kept],
            self.P[:, kept].T @ r,
            float(r @ r),
            self.crosses[:, kept],
            self.candidate_slope - self.crosses @ moved,
            self.norms,
        )

    def sums(self, weights: Array, beta: float) -> Sums:
        """Sums over rows at weights (R,), in O(R^2)."""
        moved = weights - self.origin
        turned = self.gram @ moved
        square = max(self.square - float(moved @ (2.0 * self.slope - turned)), 0.0)
        rows, misfit = self.problem.rows, beta * square
        value = 0.5 * (rows * log(beta / (2.0 * pi)) - misfit)
        return Sums(value, 0.5 * (rows - misfit), -0.5 * misfit, beta * (self.slope - turned), beta * self.gram)

    def rest(self, alpha: Array, beta: float, start: Array) -> tuple[Posterior, DataTerm]:
        at_origin = Sums(0.0, 0.0, 0.0, beta * self.slope, beta * self.gram)
        rested = posterior(at_origin, self.origin, alpha)
        return rested, _with_uncertainty(rested, self.sums(rested.mean, beta))

    def tuned(self, rested: Posterior, beta: float) -> Likelihood:
        return self.problem.likelihood

    def skew(self, rested: Posterior) -> Array:
        return np.zeros(len(self.active))

    def look(self, rested: Posterior, beta: float) -> Look:
        projected = self.crosses @ rested.covariance
        alone = beta * self.norms
        S = alone - beta**2 * np.einsum("mr,mr->m", projected, self.crosses)
        return Look(S, beta * (self.candidate_slope - self.crosses @ (rested.mean - self.origin)), alone)


def _with_uncertainty(rested: Posterior, sums: Sums) -> DataTerm:
    """ell = log p(t_n | f_n) - lam_n v_n / 2: sum lam v = sum gamma."""
    half = 0.5 * float(rested.determined.sum())
    return DataTerm(sums.value - half, sums.noise_slope - half, sums.noise_curvature)


@dataclass(frozen=True, eq=False)
class MovingFactors(ABC):
    """Where the sites' precision depends on f.

    Sums are passes over the rows in the model, looks are passes over all candidates.
    """

    problem: Problem
    active: tuple[int, ...]
    P: Array

    @cached_property
    def heights(self) -> Array:
        return np.asarray(np.abs(self.P).max(axis=0, initial=0.0))

    def alike(self, number: int) -> bool:
        p = self.problem.columns((number,))[:, 0]
        squares = np.einsum("nr,nr->r", self.P, self.P) * float(p @ p)
        return bool(((p @ self.P) ** 2 > (1.0 - SPAN) * squares).any())

    def added(self, number: int, weights: Array) -> Self:
        return replace(self, active=(*self.active, number), P=np.hstack([self.P, self.problem.columns((number,))]))

    def keeping(self, kept: Indices, weights: Array) -> Self:
        return replace(self, active=tuple(self.active[k] for k in kept), P=self.P[:, kept])

    @abstractmethod
    def sites(self, rested: Posterior, beta: float) -> tuple[Array, Array]:
        """Precision and gradient (N,) at the posterior."""

    def look(self, rested: Posterior, beta: float) -> Look:
        precision, gradient = self.sites(rested, beta)
        weighted = precision[:, None] * self.P
        towards = np.column_stack([weighted, gradient])
        products, alone = self.problem.look(towards, precision)
        crosses = products[:, :-1]
        S = alone - np.einsum("mr,mr->m", crosses @ rested.covariance, crosses)
        return Look(S, products[:, -1], alone)


class LaplaceFactors(MovingFactors):
    """Sites at the mode: Laplace's approximation, for likelihoods that are log-concave."""

    def sums(self, weights: Array, beta: float) -> Sums:
        """Sums over rows at weights (R,), in O(N R^2)."""
        likelihood, t = self.problem.likelihood, self.problem.t
        f = self.P @ weights
        precision, gradient = likelihood.sites(t, f, beta)
        value = float(likelihood.log_density(t, f, beta).sum())
        return Sums(value, 0.0, 0.0, self.P.T @ gradient, self.P.T @ (precision[:, None] * self.P))

    def rest(self, alpha: Array, beta: float, start: Array) -> tuple[Posterior, DataTerm]:
        """Newton's method, a step halved while the log posterior falls.

        The last step is taken whole, which squares what is left of the error.
        """
        weights, sums = start, self.sums(start, beta)
        height = sums.value - 0.5 * float(alpha @ weights**2)
        step = newton_step(sums, weights, alpha)
        for _ in range(MOST_NEWTON_STEPS):
            promise = float(step @ (sums.slope - alpha * weights))
            if promise <= MODE_TOLERANCE * (1.0 + abs(height)):
                break
            for share in SHARES:
                tried = weights + share * step
                there = self.sums(tried, beta)
                reached = there.value - 0.5 * float(alpha @ tried**2)
                if reached >= height + 1e-4 * share * promise:
                    weights, sums, height = tried, there, reached
                    break
            else:
                break
            step = newton_step(sums, weights, alpha)
        sums = self.sums(weights + step, beta)
        rested = posterior(sums, weights + step, alpha)
        return rested, _with_uncertainty(rested, sums)

    def tuned(self, rested: Posterior, beta: float) -> Likelihood:
        return self.problem.likelihood

    def sites(self, rested: Posterior, beta: float) -> tuple[Array, Array]:
        return self.problem.likelihood.sites(self.problem.t, self.P @ rested.mean, beta)

    def skew(self, rested: Posterior) -> Array:
        f = self.P @ rested.mean
        spread = np.einsum("nr,nr->n", self.P @ rested.covariance, self.P)
        return np.asarray(self.P.T @ (spread * self.problem.likelihood.precision_slope(self.problem.t, f)))


class BoundFactors(MovingFactors):
    """Sites at N(f, v): a lower bound of the evidence, for likelihoods with more than one mode."""

    def rest(self, alpha: Array, beta: float, start: Array) -> tuple[Posterior, DataTerm]:
        problem = self.problem
        found = settle(self.P, problem.t, np.zeros(problem.rows), alpha, problem.likelihood, beta)
        half = 0.5 * float(found.posterior.determined.sum())
        sites = found.sites
        value = found.value + found.posterior.divergence
        return found.posterior, DataTerm(value, sites.noise_slope, sites.noise_curvature + half)

    def tuned(self, rested: Posterior, beta: float) -> Likelihood:
        return self.problem.likelihood.tuned(self.problem.t, *self._latents(rested), beta)

    def skew(self, rested: Posterior) -> Array:
        return np.zeros(len(self.active))

    def sites(self, rested: Posterior, beta: float) -> tuple[Array, Array]:
        sites = self.tuned(rested, beta).expected(self.problem.t, *self._latents(rested), beta)
        return sites.precision, sites.gradient

    def _latents(self, rested: Posterior) -> tuple[Array, Array]:
        return self.P @ rested.mean, np.einsum("nr,nr->n", self.P @ rested.covariance, self.P)
