"""A known function instead of data: a sum of many Gaussians as a sum of few [BURNAEV; THEORY 19]."""

from relevance_bayes.core.approximation.density import negative_mass, proper, proper_steps
from relevance_bayes.core.approximation.expansion import Expansion
from relevance_bayes.core.approximation.sparse import Approximation, approximate, approximating

__all__ = [
    "Approximation",
    "Expansion",
    "approximate",
    "approximating",
    "negative_mass",
    "proper",
    "proper_steps",
]
