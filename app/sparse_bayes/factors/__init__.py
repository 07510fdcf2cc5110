"""What is kept beside a state: the columns in the model and their products.

Dropped and rebuilt at every resting state.
"""

from app.sparse_bayes.factors.fixed import FixedFactors
from app.sparse_bayes.factors.looks import SPAN, Factors, Look
from app.sparse_bayes.factors.moving import BoundFactors, LaplaceFactors, MovingFactors
from app.sparse_bayes.problem import Problem
from app.sparse_bayes.types import Array

__all__ = ["SPAN", "BoundFactors", "Factors", "FixedFactors", "LaplaceFactors", "Look", "MovingFactors", "build"]


def build(problem: Problem, active: tuple[int, ...], weights: Array) -> Factors:
    """Factors from scratch; `weights` (R,) near the mean."""
    if problem.likelihood.constant_precision:
        return FixedFactors.build(problem, active, weights)
    moving = LaplaceFactors if problem.likelihood.log_concave else BoundFactors
    return moving(problem, active, problem.columns(active))
