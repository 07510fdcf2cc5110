"""Priors over the weights, one a file; the union is the registry."""

from app.sparse_bayes.priors.gaussian_process import GaussianProcess
from app.sparse_bayes.priors.independent import Independent

Prior = Independent | GaussianProcess

__all__ = ["GaussianProcess", "Independent", "Prior"]
