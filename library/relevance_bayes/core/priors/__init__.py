"""Priors over the weights, one a file; the union is the registry.

`centred`: that of the constant's weight has the targets' mean, so that adding a number to them all changes nothing
else; 0 where the papers have it."""

from relevance_bayes.core.priors.gaussian_process import GaussianProcess
from relevance_bayes.core.priors.independent import Independent

Prior = Independent | GaussianProcess

__all__ = ["GaussianProcess", "Independent", "Prior"]
