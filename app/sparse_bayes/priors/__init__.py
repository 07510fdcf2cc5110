"""Priors over the weights, one a file; the union is the registry."""

from app.sparse_bayes.priors.independent import Independent

Prior = Independent

__all__ = ["Independent", "Prior"]
