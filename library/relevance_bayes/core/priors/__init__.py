"""Priors over the weights, one a file; the union is the registry.

`centred`: the prior mean of the constant's weight is the targets' mean, so that a shift of the targets changes only
that weight; else it is 0, as in the papers."""

from relevance_bayes.core.priors.gaussian_process import GaussianProcess
from relevance_bayes.core.priors.independent import Independent

Prior = Independent | GaussianProcess

__all__ = ["GaussianProcess", "Independent", "Prior"]
