"""Kernels of unit width, one a file; the union is the registry."""

from app.sparse_bayes.kernels.gaussian import Gaussian
from app.sparse_bayes.kernels.linear_spline import LinearSpline

Kernel = Gaussian | LinearSpline

__all__ = ["Gaussian", "Kernel", "LinearSpline"]
