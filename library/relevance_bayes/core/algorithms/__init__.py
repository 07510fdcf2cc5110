"""Algorithms, one a file; the union is the registry."""

from relevance_bayes.core.algorithms.greedy import Greedy
from relevance_bayes.core.algorithms.re_estimation import ReEstimation
from relevance_bayes.core.algorithms.sequential import Sequential

Algorithm = Sequential | ReEstimation | Greedy

__all__ = ["Algorithm", "Greedy", "ReEstimation", "Sequential"]
