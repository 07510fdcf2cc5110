"""Sparse Bayesian learning: the mathematics, and a client of the service that serves it."""

__version__ = "1.0.0"
"""The number of the release, of both distributions."""
