"""Relevance: a prediction service on sparse Bayesian learning."""

__version__ = "0.1.0"
