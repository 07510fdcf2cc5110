"""Likelihoods, one a file; the union is the registry.

A likelihood gives log p(t | f), its sites (precision and gradient at f) and the slope of the precision; `expected`
gives the sites where the latent is uncertain. `constant_precision` says that the precision is one number for all rows
and all f, so that sums over rows need to be made only once. `greatest_latent_sd` bounds the prior of one function where
the data can't: classes that can be separated would send it to infinity, though the probabilities have long stopped to
change. `least_gain` is what a function must bring, in nats, where the prior doesn't say.
"""

from app.sparse_bayes.likelihoods.bernoulli import Bernoulli
from app.sparse_bayes.likelihoods.gaussian import GaussianNoise

Likelihood = GaussianNoise | Bernoulli

__all__ = ["Bernoulli", "GaussianNoise", "Likelihood"]
