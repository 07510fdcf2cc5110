"""Likelihoods, one a file; the union is the registry."""

from app.sparse_bayes.likelihoods.bernoulli import Bernoulli
from app.sparse_bayes.likelihoods.gaussian import GaussianNoise

Likelihood = GaussianNoise | Bernoulli

__all__ = ["Bernoulli", "GaussianNoise", "Likelihood"]
