"""Models of scikit-learn as sums of Gaussians. The package is not imported, only its objects' attributes are used.

Each has its own measure of width; here it is the papers' r, exp(-|x - z|^2 / r^2): gamma^-1/2 of a support vector
machine, sqrt 2 times a process's length scale or a kernel density's bandwidth.
"""

from relevance_bayes.client.expansions.estimators import expansion_of
from relevance_bayes.client.gaussian_expansion import GaussianExpansion

__all__ = ["GaussianExpansion", "expansion_of"]
