"""Relevance: a prediction service on sparse Bayesian learning."""

from relevance_bayes import __version__ as __version__
