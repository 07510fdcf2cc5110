"""The posterior at rest where a row has several latents that its target couples: one covariance for all of them."""

from itertools import pairwise

import numpy as np

from relevance_bayes.core.likelihoods import Coupled, Likelihood
from relevance_bayes.core.likelihoods.categorical import curved
from relevance_bayes.core.likelihoods.sites import Sites
from relevance_bayes.core.linalg import (
    cholesky,
    inverse_from_cholesky,
    inverse_of_lower,
    log_determinant,
    squared_products,
    weighted_gram,
)
from relevance_bayes.core.posterior import Posterior
from relevance_bayes.core.types import Array, ForRows
from relevance_bayes.core.variational import Settled, settle

MAX_SOLVES = 60
TOLERANCE = 1e-9
"""The iteration has converged when the precisions' next step predicts a rise of less than this share of N log K
nats."""

TOLERANCE_NEAR = 1e-7
"""That of sites that go on from others, as a share of 1 + |L|: less than a thousandth of what an iteration over the
hyperparameters must bring."""

REMEMBERED = 5
"""Earlier steps that the next is extrapolated from [ANDERSON1965: J. ACM 12]."""

MIN_FALL = 0.2
"""No precision falls below this share of itself in one step."""

NEGLIGIBLE = 1e-3
"""Share of the nats that count which may be left of the means' slope."""

MAX_NEWTON_STEPS = 30
MAX_PRODUCTS = 200
FORCING = 1e-2
"""Conjugate gradients end where a product brings less than this share of what the step has brought."""


def settled(
    P: Array,
    t: Array,
    c: Array,
    alpha: Array,
    likelihood: Likelihood,
    beta: ForRows,
    *,
    start: Array | None = None,
    tolerance: float = TOLERANCE,
    near: Settled | None = None,
) -> Settled:
    """L at its greatest under any likelihood; `start` and `tolerance` as `settle_coupled` has them.

    `near` is where a problem like this one settled, as many functions and the same rows: the iteration goes on from
    there, and converges sooner.
    """
    if isinstance(likelihood, Coupled):
        start = start if near is None else near.posterior.mean
        return settle_coupled(P, t, c, alpha, likelihood, start=start, tolerance=tolerance)
    if near is None:
        return settle(P, t, c, alpha, likelihood, beta)
    return settle(P, t, c, alpha, likelihood, beta, near=near, tolerance=TOLERANCE_NEAR)


def settle_coupled(
    P: Array,
    t: Array,
    c: Array,
    alpha: Array,
    likelihood: Coupled,
    *,
    start: Array | None = None,
    tolerance: float = TOLERANCE,
) -> Settled:
    """L = sum_n ell(t_n, f_n, v_n) - sum_k KL(N(m_k, Sigma) || N(0, A^-1)), v = diag(P Sigma P') + c, at its greatest.

    P (N, R), t (N,), c (N,), alpha (R,); weights (R, K). Sigma = (A + P'diag(lam)P)^-1 with lam the mean over the
    classes: O(N R^2) a solve whatever K, and no worse than one for each class as far as was seen. In turn the means at
    fixed variances, and the precisions, extrapolated. The means are looked for from `start` (R, K), else from 0.
    """
    root = alpha**-0.5
    scaled, K = P * root, likelihood.latents
    unit = len(P) * np.log(K)
    weights = np.zeros((P.shape[1], K)) if start is None else start / root[:, None]
    precision, _ = likelihood.sites(t, scaled @ weights, 1.0)
    min_rise, final = 1e-4 * unit, 0.1 * tolerance * unit

    def after(weights: Array, precision: Array, min_rise: float) -> tuple[Array, Settled]:
        lower = cholesky(weighted_gram(scaled, precision) + np.eye(P.shape[1]))
        whitened = inverse_from_cholesky(lower)
        v = c + squared_products(scaled, inverse_of_lower(lower))
        weights, f, sites = _means(scaled, t, v, weights, likelihood, min_rise, near=whitened)
        found = Posterior(
            alpha=alpha,
            mean=root[:, None] * weights,
            covariance=whitened * np.outer(root, root),
            whitened=whitened,
            log_shrinkage=-log_determinant(lower),
        )
        return weights, Settled(float(sites.value.sum()) - found.divergence, found, sites, f, v, likelihood)

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
        steps = [*steps[-REMEMBERED:], (precision, residue)]
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


def _extrapolated(steps: list[tuple[Array, Array]]) -> Array:
    """Where the last steps lead to together."""
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

    Newton's method, each step by conjugate gradients. Preconditioned by what the posterior's covariance is taken for,
    `near` (R, R): which classes a row confuses differs from row to row, but how sure the functions are hardly does.
    """
    f = (weights.T @ P.T).T  # each class's numbers lie together: sums over few classes are faster so
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
