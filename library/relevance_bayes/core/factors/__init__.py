"""The columns in the model and their products, kept beside a state and rebuilt at checkpoints."""

from relevance_bayes.core.factors.base import SPAN, CandidateStatistics, Factors
from relevance_bayes.core.factors.fixed import FixedFactors
from relevance_bayes.core.factors.moving import BoundFactors, LaplaceFactors, MovingFactors
from relevance_bayes.core.problem import Problem
from relevance_bayes.core.types import Array

__all__ = [
    "SPAN",
    "BoundFactors",
    "CandidateStatistics",
    "Factors",
    "FixedFactors",
    "LaplaceFactors",
    "MovingFactors",
    "build",
    "without_candidates",
]


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
