"""Sparse Bayesian learning: the mathematics, and a client of the service that serves it."""

__version__ = "0.1.0"
