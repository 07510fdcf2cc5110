"""A known function instead of data: a sum of many Gaussians told by few of them [BURNAEV; SCIENCE 5]."""

from app.sparse_bayes.approximation.density import negative_mass, proper, proper_steps
from app.sparse_bayes.approximation.expansion import Expansion
from app.sparse_bayes.approximation.sparse import Approximation, approximate, approximating

__all__ = [
    "Approximation",
    "Expansion",
    "approximate",
    "approximating",
    "negative_mass",
    "proper",
    "proper_steps",
]
