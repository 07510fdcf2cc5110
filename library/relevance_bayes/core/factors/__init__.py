"""What is kept beside a state: the columns in the model and their products.

Dropped and rebuilt at every resting state.
"""

from relevance_bayes.core.factors.fixed import FixedFactors
from relevance_bayes.core.factors.looks import SPAN, Factors, Look
from relevance_bayes.core.factors.moving import BoundFactors, LaplaceFactors, MovingFactors
from relevance_bayes.core.problem import Problem
from relevance_bayes.core.types import Array

__all__ = [
    "SPAN",
    "BoundFactors",
    "Factors",
    "FixedFactors",
    "LaplaceFactors",
    "Look",
    "MovingFactors",
    "build",
    "unseeing",
]


def build(problem: Problem, active: tuple[int, ...], weights: Array) -> Factors:
    """Factors from scratch; `weights` (R,), or (R, K), near the mean."""
    if problem.likelihood.constant_precision:
        return FixedFactors.build(problem, active, weights)
    moving = _moving(problem)
    return moving(problem, active, problem.columns(active))


def unseeing(problem: Problem, P: Array, weights: Array) -> Factors:
    """Factors of columns P (N, R) that stand alone: candidates are neither seen nor paid for."""
    if problem.likelihood.constant_precision:
        return FixedFactors.unseeing(problem, P, weights)
    moving = _moving(problem)
    return moving(problem, tuple(range(P.shape[1])), P)


def _moving(problem: Problem) -> type[LaplaceFactors] | type[BoundFactors]:
    return LaplaceFactors if problem.likelihood.log_concave else BoundFactors
