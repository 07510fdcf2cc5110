"""Re-estimation of all hyperparameters at once, from a model of all candidates."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from relevance_bayes.core.algorithms.ascent import end_of, learns_noise
from relevance_bayes.core.algorithms.state import (
    EvidenceIterate,
    Iterate,
    State,
    Termination,
    iterate_of,
    rebuild,
    with_evidence,
)
from relevance_bayes.core.errors import NotPositiveDefiniteError, SparseBayesError
from relevance_bayes.core.inference.evidence import TINY, EvaluatedEvidence, evidence, quality_over_sparsity
from relevance_bayes.core.inference.factors import Factors, build
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.priors import Independent
from relevance_bayes.core.types import Array

MIN_RELEVANT_GAMMA = 1e-2
"""A function with q^2 <= s, whose alpha goes to infinity, is pruned below this gamma."""

MIN_GAMMA = 1e-9
"""Any function is pruned below this gamma: its weight is numerically zero."""

CONVERGED = 1e-9
"""The fit has converged when L rises by less than this share of 1 + |L| in one step."""

ROUNDING = 1e-6
"""The most by which a posterior may be wider than its prior: more is rounding, and the evidence is inaccurate too."""

MAX_STEP = 10.0
"""The largest step of a logarithm."""

MAX_ITERATIONS = 5_000

START_NOISE = 0.1
"""Noise variance at the start, as a share of the targets' mean square."""

START_PRIOR_SD = 30.0
"""The initial prior sd over the targets' root mean square. Correlated functions have to cancel: under a narrower prior
at the start those of a wide kernel are all pruned. Friedman 1 at .82 and 1.1 diameters: error 2.89 with 59 functions
and 3.07 with 40, under 3 it was 3.26 with 41 and 4.02 with 32; Friedman 2 at 2.9: 4,182, under 3 21,120. The papers'
figures are 2.80 with 59 and 3,505 with 7."""


@dataclass(frozen=True)
class ReEstimation:
    """MacKay's alpha = gamma/mu^2 or EM's alpha = 1/(mu^2 + Sigma_mm), with pruning [TIPPING1999, eqs 8 to 10].

    Under Gamma hyperpriors (gamma + 2a)/(mu^2 + 2b) and (1 + 2a)/(mu^2 + Sigma_mm + 2b) [THEORY 2]. The objective is
    L and the log hyperprior; a step that would lower it is halved in the logarithms until it doesn't. O(M^3) a step at
    the start. Where a row has K latents, gamma and 1 count K times, mu^2 and Sigma_mm are summed over them.
    """

    __pydantic_config__ = {"extra": "forbid"}
    has_full_passes: ClassVar[bool] = True
    """True where a step goes over all rows and candidates."""

    update: Literal["mackay", "em"] = "mackay"
    type: Literal["re_estimation"] = "re_estimation"

    def init(self, problem: Problem) -> EvidenceIterate:
        """All M candidates in the model, with prior sds of START_PRIOR_SD times the targets' root mean square."""
        beta, max_beta = problem.likelihood.start(problem.t)
        if max_beta > beta:
            beta /= START_NOISE
        active = tuple(range(problem.candidates.size))
        _, squares = problem.products_and_norms(np.empty((problem.rows, 0)))
        alpha = np.where(squares > 0.0, squares / problem.rows, 1.0) / (START_PRIOR_SD**2 * problem.square)
        weights = problem.unweighted(len(active))
        factors = build(problem, active, weights)
        first = _iterate(problem, factors, evidence(factors, alpha, beta, weights), iteration=0)
        # `rebuild` searches for the mode from the same weights, since another start changes the last bits.
        return replace(first, state=replace(first.state, weights=weights))

    def rebuild(self, problem: Problem, state: State) -> EvidenceIterate:
        """The iterate of a state, with its factors and evidence recomputed."""
        return rebuild(problem, state)

    def step(self, problem: Problem, now: Iterate) -> EvidenceIterate:
        """Re-estimate all, then prune."""
        now = with_evidence(problem, now)
        here = self._raised(problem, now.factors, now.evidence)
        factors, kept = _pruned(problem, now.factors, here)
        iteration = now.state.iteration + 1
        objective = _objective(problem, kept)
        rose = objective - now.state.objective
        has_converged = rose <= CONVERGED * (1.0 + abs(objective)) and len(factors.active) == len(now.factors.active)
        ended = Termination.MAX_ITERATIONS if iteration >= MAX_ITERATIONS else None
        why = end_of(problem, kept) if has_converged else ended
        return _iterate(problem, factors, kept, iteration=iteration, is_maximum=has_converged, termination=why)

    def _raised(self, problem: Problem, factors: Factors, here: EvaluatedEvidence) -> EvaluatedEvidence:
        step = self._step(problem, here)
        _, max_beta = problem.likelihood.start(problem.t)
        share, height = 1.0, _objective(problem, here)
        while share > 1e-6:
            alpha = here.posterior.alpha * np.exp(share * step[:-1])
            beta = min(float(here.beta * np.exp(share * step[-1])), max_beta)
            there = _evidence_at(factors, alpha, beta, here)
            if there is not None and _objective(problem, there) >= height:
                return there
            share *= 0.5
        return here

    def _step(self, problem: Problem, here: EvaluatedEvidence) -> Array:
        """The full step in (log alpha, log beta), (R + 1,)."""
        prior, posterior = _prior(problem), here.posterior
        K, square = posterior.latents, posterior.squares
        gamma, numbers = K * posterior.determined, float(K * problem.rows)
        well = float(gamma.sum())
        residual_squares = max(numbers - well - 2.0 * float(here.gradient[-1]), TINY)  # beta |t - P mu|^2
        if self.update == "mackay":
            counted, size, left = gamma, square, numbers - well
        else:
            counted, size, left = np.full_like(gamma, K), square + K * posterior.covariance.diagonal(), numbers
            residual_squares += well
        precision = np.log(np.maximum(counted + 2.0 * prior.a, 1e-12)) - np.log(np.maximum(size + 2.0 * prior.b, TINY))
        noise = max(left + 2.0 * prior.c, 1e-12 * numbers) / (residual_squares + 2.0 * prior.d * here.beta)
        step = np.append(precision - np.log(posterior.alpha), np.log(noise) if learns_noise(problem) else 0.0)
        return np.asarray(np.clip(step, -MAX_STEP, MAX_STEP))


def _evidence_at(factors: Factors, alpha: Array, beta: float, here: EvaluatedEvidence) -> EvaluatedEvidence | None:
    """The evidence at other hyperparameters; None where copies and nearly no noise make it inaccurate."""
    try:
        there = evidence(factors, alpha, beta, here.posterior.mean)
    except NotPositiveDefiniteError:
        return None
    return there if there.posterior.whitened.diagonal().max(initial=0.0) <= 1.0 + ROUNDING else None


def _prior(problem: Problem) -> Independent:
    """The prior; raises SparseBayesError for a spec that `spec.check` refuses."""
    if not isinstance(problem.prior, Independent):
        raise SparseBayesError("expected an independent prior")
    return problem.prior


def _objective(problem: Problem, here: EvaluatedEvidence) -> float:
    """L + sum(a log alpha - b alpha) + c log beta - d beta over the functions in the model, in nats."""
    return here.value + _prior(problem).log_hyperprior(here.posterior.alpha, here.beta)


def _iterate(
    problem: Problem,
    factors: Factors,
    found: EvaluatedEvidence,
    *,
    iteration: int,
    is_maximum: bool = False,
    termination: Termination | None = None,
) -> EvidenceIterate:
    iterate = iterate_of(factors, found, iteration=iteration, is_maximum=is_maximum, termination=termination)
    return replace(iterate, state=replace(iterate.state, objective=_objective(problem, found)))


def _pruned(problem: Problem, factors: Factors, here: EvaluatedEvidence) -> tuple[Factors, EvaluatedEvidence]:
    """The model without irrelevant functions, unless the objective falls."""
    gamma, is_irrelevant = here.posterior.determined, quality_over_sparsity(here.posterior) <= 1.0
    kept = np.flatnonzero(~((is_irrelevant & (gamma < MIN_RELEVANT_GAMMA)) | (gamma < MIN_GAMMA)))
    if len(kept) == len(gamma):
        return factors, here
    fewer = factors.keeping(kept, here.posterior.mean)
    there = evidence(fewer, here.posterior.alpha[kept], here.beta, here.posterior.mean[kept])
    height = _objective(problem, here)
    if _objective(problem, there) < height - CONVERGED * (1.0 + abs(height)):
        return factors, here
    return fewer, there
