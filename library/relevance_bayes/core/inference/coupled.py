"""The variational posterior where a target couples the latents of a row: one covariance for all of them."""

from itertools import pairwise

import numpy as np

from relevance_bayes.core.inference.posterior import Optimum, Posterior
from relevance_bayes.core.likelihoods import Coupled
from relevance_bayes.core.likelihoods.base import Sites
from relevance_bayes.core.likelihoods.categorical import curved
from relevance_bayes.core.linalg import (
    cholesky,
    inverse_from_cholesky,
    inverse_of_lower,
    log_determinant,
    squared_products,
    weighted_gram,
)
from relevance_bayes.core.types import Array

MAX_SOLVES = 60
TOLERANCE = 1e-9
"""The iteration has converged when the precisions' next step predicts a rise of less than this share of N log K
nats."""

TOLERANCE_NEAR = 1e-7
"""The tolerance of sites that start from others, as a share of 1 + |L|: less than a thousandth of the least rise by an
iteration over the hyperparameters."""

TOLERANCE_OF_MODE = 1e-6
"""The mode under one set of precisions is found when a step promises less than this share of N log K nats."""

MAX_HISTORY = 5
"""Earlier steps in the extrapolation of the next one [ANDERSON1965: J. ACM 12]."""

MIN_FALL = 0.2
"""No precision falls below this share of itself in one step."""

NEGLIGIBLE = 1e-3
"""The remaining rise by the means, as a share of `min_rise`, at which they have converged."""

MAX_NEWTON_STEPS = 30
MAX_PRODUCTS = 200
FORCING = 1e-2
"""Conjugate gradients end where a product adds less than this share of the step's rise."""


def maximise_coupled(
    P: Array,
    t: Array,
    c: Array,
    alpha: Array,
    likelihood: Coupled,
    *,
    start: Array | None = None,
    tolerance: float = TOLERANCE,
) -> Optimum:
    """L = sum_n ell(t_n, f_n, v_n) - sum_k KL(N(m_k, Sigma) || N(0, A^-1)), v = diag(P Sigma P') + c, maximised.

    P (N, R), t (N,), c (N,), alpha (R,); weights (R, K). Sigma = (A + P'diag(lam)P)^-1 with lam the mean over the
    classes: O(N R^2) a solve for any K, and as accurate as one for each class in all tests. Updates of the means at
    fixed variances and of the precisions, extrapolated, alternate. The means are searched for from `start` (R, K), else
    from 0.
    """
    root = alpha**-0.5
    scaled, K = P * root, likelihood.latents
    unit = len(P) * np.log(K)
    weights = np.zeros((P.shape[1], K)) if start is None else start / root[:, None]
    precision, _ = likelihood.sites(t, scaled @ weights, 1.0)
    min_rise, final = 1e-4 * unit, 0.1 * tolerance * unit

    def after(weights: Array, precision: Array, min_rise: float) -> tuple[Array, Optimum]:
        lower = cholesky(weighted_gram(scaled, precision) + np.eye(P.shape[1]))
        v = c + squared_products(scaled, inverse_of_lower(lower))
        near = inverse_from_cholesky(lower)
        weights, f, sites = _means(scaled, t, v, weights, likelihood, min_rise, near=near)
        found = _posterior(alpha, weights, lower, near)
        return weights, Optimum(float(sites.value.sum()) - found.divergence, found, sites, f, v, likelihood)

    weights, found = after(weights, precision, min_rise)
    steps: list[tuple[Array, Array]] = []
    for _ in range(MAX_SOLVES):
        residue = found.sites.precision - precision
        predicted_rise = 0.5 * K * float(np.square(residue * (found.v - c)).sum())
        if predicted_rise <= tolerance * unit:
            if min_rise <= final:
                break
            min_rise = final
            weights, found = after(weights, precision, min_rise)
            continue
        steps = [*steps[-MAX_HISTORY:], (precision, residue)]
        min_rise = min(min_rise, max(final, 1e-2 * predicted_rise))
        tried = np.maximum(_extrapolated(steps), MIN_FALL * precision)
        moved, there = after(weights, tried, min_rise)
        share = 1.0
        while there.value < found.value - min_rise and share > 1e-3:
            steps, share = steps[-1:], 0.5 * share
            tried = precision + share * residue
            moved, there = after(weights, tried, min_rise)
        weights, found, precision = moved, there, tried
    return found


def mode_of_coupled(
    P: Array, t: Array, alpha: Array, likelihood: Coupled, start: Array, *, tolerance: float = TOLERANCE_OF_MODE
) -> tuple[float, Posterior]:
    """Laplace's approximation of the evidence in nats, and the posterior: N(m_k, Sigma) about the mode m (R, K).

    P (N, R), t (N,), alpha (R,); Sigma = (A + P'diag(lam)P)^-1 with lam the mean over the classes of the curvature
    there. The mode is searched for from `start` (R, K), to `tolerance`, a share of N log K nats.
    """
    root = alpha**-0.5
    scaled, none, K = P * root, np.zeros(len(P)), likelihood.latents

    def factor(precision: Array) -> Array:
        return cholesky(weighted_gram(scaled, precision) + np.eye(P.shape[1]))

    first, _ = likelihood.sites(t, scaled @ (start / root[:, None]), 1.0)
    near, min_rise = inverse_from_cholesky(factor(first)), tolerance * len(P) * float(np.log(K))
    weights, _, sites = _means(scaled, t, none, start / root[:, None], likelihood, min_rise, near=near)
    found = _posterior(alpha, weights, lower := factor(sites.precision), inverse_from_cholesky(lower))
    of_uncertainty = 0.5 * K * float(found.determined.sum())
    return float(sites.value.sum()) - of_uncertainty - found.divergence, found


def _posterior(alpha: Array, weights: Array, lower: Array, whitened: Array) -> Posterior:
    """The posterior in units of the prior's sds: mean (R, K), the factor (R, R) of the precision, the covariance."""
    root = alpha**-0.5
    scale = np.outer(root, root)
    return Posterior(alpha, root[:, None] * weights, whitened * scale, whitened, -log_determinant(lower))


def _extrapolated(steps: list[tuple[Array, Array]]) -> Array:
    """Anderson's extrapolation of the last steps."""
    at, residue = steps[-1]
    if len(steps) == 1:
        return at + residue
    moves = np.array([after[0] - before[0] for before, after in pairwise(steps)])
    turns = np.array([after[1] - before[1] for before, after in pairwise(steps)])
    shares, *_ = np.linalg.lstsq(turns @ turns.T, turns @ residue, rcond=1e-10)
    return np.asarray(at + residue - shares @ (moves + turns))


def _means(
    P: Array, t: Array, v: Array, weights: Array, likelihood: Coupled, min_rise: float, *, near: Array
) -> tuple[Array, Array, Sites]:
    """Weights (R, K) of greatest L at variances v (N,), to `min_rise` nats, their latents (N, K) and sites; prior N(0,
    I).

    Newton's method, each step by conjugate gradients. Preconditioned by an estimate `near` (R, R) of the
    posterior's covariance, which hardly depends on the class.
    """
    f = (weights.T @ P.T).T  # contiguous by class, in which sums over few classes are faster
    sites = likelihood.expected(t, f, v, 1.0)
    height = float(sites.value.sum()) - 0.5 * float(np.square(weights).sum())
    for _ in range(MAX_NEWTON_STEPS):
        slope = P.T @ sites.gradient - weights
        if float(np.vdot(slope, near @ slope)) <= NEGLIGIBLE * min_rise:
            break
        p = likelihood.certain(t) - sites.gradient
        step, moved, rise = _newton_step(P, p, v, slope, min_rise, near)
        predicted_rise, share = float((slope * step).sum()), 1.0
        while True:
            tried = weights + share * step
            there = likelihood.expected(t, f + share * moved, v, 1.0)
            reached = float(there.value.sum()) - 0.5 * float(np.square(tried).sum())
            enough = reached >= height + 1e-4 * share * predicted_rise - 1e-13 * (1.0 + abs(height))
            if enough or share < 1e-6:
                break
            share *= 0.5
        weights, f, sites, height = tried, f + share * moved, there, reached
        if rise < min_rise:
            break
    return weights, f, sites


def _newton_step(
    P: Array, p: Array, v: Array, slope: Array, min_rise: float, near: Array
) -> tuple[Array, Array, float]:
    """The step (R, K), what it moves the latents by (N, K), and the nats that it promises."""
    step, moved = np.zeros_like(slope), np.zeros_like(p)
    left, direction = slope.copy(), near @ slope
    square, rise = float(np.vdot(left, direction)), 0.0
    for _ in range(MAX_PRODUCTS):
        along = (direction.T @ P.T).T
        turned = P.T @ curved(p, v[:, None], along) + direction
        length = square / float((direction * turned).sum())
        step, moved = step + length * direction, moved + length * along
        left = left - length * turned
        gained = 0.5 * length * square
        rise += gained
        if gained < FORCING * rise or gained < 1e-2 * min_rise:
            break
        nearer = near @ left
        square, before = float(np.vdot(left, nearer)), square
        if square <= 0.0:
            break
        direction = nearer + (square / before) * direction
    return step, moved, rise
