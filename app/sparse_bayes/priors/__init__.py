"""Priors over the weights, one a file; the union is the registry.

`centred`: that of the constant's weight has the targets' mean, so that adding a number to them all changes nothing
else; 0 where the papers have it."""

from app.sparse_bayes.priors.gaussian_process import GaussianProcess
from app.sparse_bayes.priors.independent import Independent

Prior = Independent | GaussianProcess

__all__ = ["GaussianProcess", "Independent", "Prior"]
