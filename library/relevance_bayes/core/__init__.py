"""Sparse Bayesian learning: the mathematics, on numpy and scipy alone."""
