"""Re-estimation of all hyperparameters at once, from everything in the model."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from app.sparse_bayes.algorithms.ascent import end_of, learns_noise
from app.sparse_bayes.algorithms.state import Standing, State, Termination, Walk, stand, standing, walking
from app.sparse_bayes.evidence import Evidence, evidence, sparsity_and_quality
from app.sparse_bayes.factors import Factors, build
from app.sparse_bayes.problem import Problem
from app.sparse_bayes.types import Array

SILENT = 1e-2
"""A function with q^2 <= s, whose alpha is on its way to infinity, is pruned once the data determine its weight by
less than this gamma."""

ZERO = 1e-9
"""A weight determined by less than this gamma is zero for all purposes."""

CONVERGED = 1e-9
"""The end: L rose by less than this share of 1 + |L| in one step."""

LONGEST_STEP = 10.0
"""No logarithm moves by more in one step."""

MOST_ITERATIONS = 5_000

START_NOISE = 0.1
"""Noise variance at the start, as a share of the targets' mean square."""


@dataclass(frozen=True)
class ReEstimation:
    """MacKay's alpha = gamma/mu^2 or EM's alpha = 1/(mu^2 + Sigma_mm), with pruning [TIPPING1999, eqs 8 to 10].

    The objective is L; a step that would lower it is halved in the logarithms until it doesn't. O(M^3) a step at the
    start.
    """

    __pydantic_config__ = {"extra": "forbid"}

    update: Literal["mackay", "em"] = "mackay"
    type: Literal["re_estimation"] = "re_estimation"

    def init(self, problem: Problem) -> Walk:
        """All M candidates in, with precisions under which f has the targets' size."""
        beta, greatest = problem.likelihood.start(problem.t)
        if greatest > beta:
            beta /= START_NOISE
        active = tuple(range(problem.candidates.size))
        _, squares = problem.look(np.empty((problem.rows, 0)))
        scale = float(np.mean(problem.t**2)) or 1.0
        alpha = np.maximum(squares / problem.rows, np.finfo(float).tiny) * len(active) / scale
        weights = np.zeros(len(active))
        factors = build(problem, active, weights)
        return standing(factors, evidence(factors, alpha, beta, weights), iteration=0)

    def stand(self, problem: Problem, state: State) -> Walk:
        """A state with its factors and its evidence, made anew."""
        return stand(problem, state)

    def step(self, problem: Problem, now: Standing) -> Walk:
        """Re-estimate all, then prune."""
        now = walking(problem, now)
        here = self._raised(problem, now.factors, now.evidence)
        factors, kept = _pruned(now.factors, here)
        iteration = now.state.iteration + 1
        rose = kept.value - now.evidence.value
        rests = rose <= CONVERGED * (1.0 + abs(kept.value)) and len(factors.active) == len(now.factors.active)
        ended = Termination.MAX_ITERATIONS if iteration >= MOST_ITERATIONS else None
        return standing(
            factors, kept, iteration=iteration, at_rest=rests, termination=end_of(problem, kept) if rests else ended
        )

    def _raised(self, problem: Problem, factors: Factors, here: Evidence) -> Evidence:
        step = self._step(problem, here)
        _, greatest = problem.likelihood.start(problem.t)
        share = 1.0
        while share > 1e-6:
            alpha = here.posterior.alpha * np.exp(share * step[:-1])
            beta = min(float(here.beta * np.exp(share * step[-1])), greatest)
            there = evidence(factors, alpha, beta, here.posterior.mean)
            if there.value >= here.value:
                return there
            share *= 0.5
        return here

    def _step(self, problem: Problem, here: Evidence) -> Array:
        """The full step in (log alpha, log beta), (R + 1,)."""
        rested = here.posterior
        gamma, square = rested.determined, rested.mean**2
        well = float(gamma.sum())
        misfit = max(problem.rows - well - 2.0 * float(here.gradient[-1]), np.finfo(float).tiny)  # beta |t - P mu|^2
        if self.update == "mackay":
            precision = np.maximum(gamma, 1e-12) / np.maximum(square, np.finfo(float).tiny)
            noise = max(problem.rows - well, 1e-12 * problem.rows) / misfit
        else:
            precision = 1.0 / (square + rested.covariance.diagonal())
            noise = problem.rows / (misfit + well)
        step = np.append(np.log(precision / rested.alpha), np.log(noise) if learns_noise(problem) else 0.0)
        return np.asarray(np.clip(step, -LONGEST_STEP, LONGEST_STEP))


def _pruned(factors: Factors, here: Evidence) -> tuple[Factors, Evidence]:
    """Without the silent ones, unless L fell."""
    s, q = sparsity_and_quality(here.posterior)
    gamma = here.posterior.determined
    kept = np.flatnonzero(~(((q**2 <= s) & (gamma < SILENT)) | (gamma < ZERO)))
    if len(kept) == len(s):
        return factors, here
    fewer = factors.keeping(kept, here.posterior.mean)
    there = evidence(fewer, here.posterior.alpha[kept], here.beta, here.posterior.mean[kept])
    if there.value < here.value - CONVERGED * (1.0 + abs(here.value)):
        return factors, here
    return fewer, there
