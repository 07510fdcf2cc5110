"""Algorithms, one a file; the union is the registry."""

from app.sparse_bayes.algorithms.greedy import Greedy
from app.sparse_bayes.algorithms.re_estimation import ReEstimation
from app.sparse_bayes.algorithms.sequential import Sequential

Algorithm = Sequential | ReEstimation | Greedy

__all__ = ["Algorithm", "Greedy", "ReEstimation", "Sequential"]
