"""The maximum of the evidence in all hyperparameters of the functions in the model, and the noise, by Newton's
method."""

from dataclasses import dataclass
from math import exp

import numpy as np

from relevance_bayes.core.algorithms.state import FREE, Price, Termination
from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.core.inference.evidence import TINY, EvaluatedEvidence, evidence, quality_over_sparsity
from relevance_bayes.core.inference.factors import Factors
from relevance_bayes.core.inference.posterior import Posterior
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.linalg import cholesky, solve_with_cholesky
from relevance_bayes.core.types import Array, Mask

MAX_STEP = 3.0
"""The largest step of a logarithm: far from the maximum the quadratic model is not accurate."""

ROUNDING = 1e-12
"""Share of 1 + |L| below which a difference of evidences is rounding."""

SADDLE_CURVATURE = 1e-6
"""An eigenvalue of the Hessian above this (in nats per squared unit of log) makes a stationary point a saddle."""

MIN_EXCESS = 0.22
"""A function whose q^2/s exceeds 1 by less than this (1e-2 nats), and whose alpha still rises, is pruned if L
allows."""

MIN_GAMMA = 1e-9
"""A weight of a smaller gamma is numerically zero: pruning it ..."""

PRUNING_TOLERANCE = 1e-9
"""... changes L by less than this share of 1 + |L|."""

MAX_TRIED = 3
"""Functions whose pruning is tried before each step."""

LAST_STEP = 10.0
"""The ratio of predicted rise to tolerance below which a step is the last: Newton's method converges quadratically."""

MAX_STEPS = 200


@dataclass(frozen=True, eq=False)
class Maximum:
    """The end of an ascent: the factors, of the functions that were not pruned, and the evidence."""

    factors: Factors
    evidence: EvaluatedEvidence


def learns_noise(problem: Problem) -> bool:
    """True where beta is a hyperparameter."""
    start, max_beta = problem.likelihood.start(problem.t)
    return max_beta > start


def end_of(problem: Problem, here: EvaluatedEvidence) -> Termination:
    """The termination at a maximum: converged, or at the noise floor."""
    _, max_beta = problem.likelihood.start(problem.t)
    stopped = learns_noise(problem) and here.beta >= max_beta * (1.0 - 1e-9)
    return Termination.NOISE_FLOOR if stopped else Termination.CONVERGED


def min_alpha(factors: Factors) -> Array:
    """The smallest alphas (R,): the prior sd of a function's greatest value is at most the likelihood's
    `max_latent_sd`."""
    return factors.heights**2 / factors.problem.likelihood.max_latent_sd**2


def maximise(factors: Factors, start: EvaluatedEvidence, *, tolerance: float, price: Price = FREE) -> Maximum:
    """Newton's method on L in (log alpha, log beta), with absolute eigenvalues, so that each step is an ascent.

    Functions that are irrelevant, or whose price exceeds their gain, are pruned before each step. It ends when the
    quadratic model predicts a rise of less than `tolerance` nats and no eigenvector of a saddle raises L [THEORY 3].
    The Hessian is that at fixed sites; symmetric rank-one updates from the gradients add the rest.
    """
    here = start
    learned, likelihood = learns_noise(factors.problem), factors.problem.likelihood
    _, max_beta = likelihood.start(factors.problem.t)
    correction = np.zeros_like(here.hessian)
    for _ in range(MAX_STEPS):
        functions = len(factors.active)
        factors, here = _prune(factors, here, price)
        if len(factors.active) < functions:
            correction = np.zeros_like(here.hessian)
        free = here.gradient > 0.0
        free[:-1] |= here.posterior.alpha > min_alpha(factors) * (1.0 + 1e-9)
        free[-1] = learned and _may_move(here, max_beta)
        step, predicted_rise, direction = _newton(here, here.hessian + correction, free)
        if predicted_rise > tolerance:
            there = _search(factors, here, step, max_beta)
        else:
            there = _leave_saddle(factors, here, direction, max_beta, tolerance)
        if there is None:
            break
        if not likelihood.has_constant_precision:
            correction = _updated(correction, here, there)
        here = there
        if (
            direction is None
            and predicted_rise <= LAST_STEP * tolerance
            and factors.problem.likelihood.has_constant_precision
        ):
            break
    return Maximum(factors, here)


def _updated(correction: Array, here: EvaluatedEvidence, there: EvaluatedEvidence) -> Array:
    """The symmetric rank-one update of the correction to the Hessian, from two gradients."""
    step = np.append(np.log(there.posterior.alpha / here.posterior.alpha), np.log(there.beta / here.beta))
    miss = there.gradient - here.gradient - (there.hessian + correction) @ step
    along = float(miss @ step)
    if not abs(along) > 1e-8 * float(np.linalg.norm(miss) * np.linalg.norm(step)):
        return correction
    return correction + np.outer(miss, miss) / along


def _may_move(here: EvaluatedEvidence, max_beta: float) -> bool:
    return here.beta < max_beta * (1.0 - 1e-9) or here.gradient[-1] < 0.0


def _newton(here: EvaluatedEvidence, hessian: Array, free: Mask) -> tuple[Array, float, Array | None]:
    """The step (R + 1,), its predicted rise in nats, and the eigenvector of a saddle if there is one."""
    gradient = here.gradient[free]
    step = np.zeros(len(free))
    if not len(gradient):
        return step, 0.0, None
    curvature = hessian if free.all() else hessian[np.ix_(free, free)]
    direction = None
    try:
        moves = solve_with_cholesky(cholesky(-curvature), gradient)
        predicted_rise = 0.5 * float(gradient @ moves)
    except NotPositiveDefiniteError:
        curvatures, vectors = np.linalg.eigh(curvature)
        along = vectors.T @ gradient
        shares = along / np.maximum(np.abs(curvatures), 1e-10)
        moves, predicted_rise = vectors @ shares, 0.5 * float(np.abs(along) @ np.abs(shares))
        if curvatures[-1] > SADDLE_CURVATURE:
            direction = np.zeros(len(free))
            direction[free] = vectors[:, -1]
    step[free] = moves
    longest = float(np.abs(step).max())
    if longest > MAX_STEP:
        step *= MAX_STEP / longest
    return step, predicted_rise, direction


def _moved(factors: Factors, here: EvaluatedEvidence, step: Array, max_beta: float) -> EvaluatedEvidence | None:
    alpha = np.maximum(here.posterior.alpha * np.exp(step[:-1]), min_alpha(factors))
    beta = min(here.beta * exp(step[-1]), max_beta)
    try:
        return evidence(factors, alpha, beta, _predicted_mode(here, step[:-1]))
    except NotPositiveDefiniteError:
        return None


def _predicted_mode(here: EvaluatedEvidence, step: Array) -> Array:
    """The mode after a small step in log alpha: d mean / d log alpha_m = -Sigma_:m alpha_m mean_m."""
    posterior = here.posterior
    if len(step) == 0 or float(np.abs(step).max()) > 1.0:
        return posterior.mean
    return np.asarray(posterior.mean - posterior.covariance @ (posterior.alpha * step * posterior.mean.T).T)


def _search(factors: Factors, here: EvaluatedEvidence, step: Array, max_beta: float) -> EvaluatedEvidence | None:
    share = 1.0
    slope = float(step @ here.gradient)
    while share > 1e-4:
        there = _moved(factors, here, share * step, max_beta)
        if there is not None and there.value > here.value + 1e-4 * share * max(slope, 0.0):
            return there
        share *= 0.5
    return None


def _leave_saddle(
    factors: Factors, here: EvaluatedEvidence, direction: Array | None, max_beta: float, tolerance: float
) -> EvaluatedEvidence | None:
    if direction is None:
        return None
    threshold = max(tolerance, ROUNDING * (1.0 + abs(here.value)))
    for length in (1.0, -1.0, 0.3, -0.3, 0.1, -0.1):
        there = _moved(factors, here, length * direction / np.abs(direction).max(), max_beta)
        if there is not None and there.value > here.value + threshold:
            return there
    return None


def evidence_loss(posterior: Posterior) -> Array:
    """Nats by which L would fall without each function, at the current precisions, (R,) [FAUL2002, eq. 12].

    l = 1/2 (log alpha - log(alpha + s) + q^2/(alpha + s)) with alpha + s = 1/Sigma_mm, q = mu_m/Sigma_mm, for each
    latent; where the likelihood is not Gaussian it is an estimate.
    """
    own = np.maximum(posterior.covariance.diagonal(), TINY)
    log_share = np.log(np.maximum(posterior.whitened.diagonal(), TINY))
    return np.asarray(0.5 * (posterior.latents * log_share + posterior.squares / own))


def _prune(factors: Factors, here: EvaluatedEvidence, price: Price) -> tuple[Factors, EvaluatedEvidence]:
    """Prune irrelevant functions while the objective does not fall.

    Candidates by the closed form are those with q^2 <= s, whose best alpha is infinite [FAUL2002, eq. 17], those of
    little gain whose alpha still rises, and those whose loss is below their refund; L decides.
    """
    while len(here.posterior.alpha):
        refund = price.refund(len(here.posterior.alpha))
        excess = quality_over_sparsity(here.posterior) - 1.0
        undetermined = here.posterior.determined < MIN_GAMMA
        may_leave = undetermined | (excess <= np.where(here.gradient[:-1] > 0.0, MIN_EXCESS, 0.0))
        order = excess
        if refund > 0.0:
            order = evidence_loss(here.posterior)
            may_leave |= order <= refund
        if not may_leave.any():
            break
        rank = np.where(undetermined, -np.inf, np.where(may_leave, order, np.inf))
        for worst in np.argsort(rank, kind="stable")[: min(int(may_leave.sum()), MAX_TRIED)]:
            kept = np.flatnonzero(np.arange(len(excess)) != worst)
            fewer = factors.keeping(kept, here.posterior.mean)
            there = evidence(fewer, here.posterior.alpha[kept], here.beta, _given_zero(here.posterior, worst)[kept])
            threshold = here.value - (PRUNING_TOLERANCE if undetermined[worst] else ROUNDING) * (1.0 + abs(here.value))
            if there.value + refund >= threshold:
                factors, here = fewer, there
                break
        else:
            break
    return factors, here


def _given_zero(posterior: Posterior, position: int) -> Array:
    """The mean of all weights given that one function's are zero: near the mode without it."""
    own = posterior.covariance[:, position]
    return np.asarray(posterior.mean - np.multiply.outer(own, posterior.mean[position] / own[position]))
