"""Kernels of unit width, one a file; the union is the registry.

A kernel is a frozen dataclass, symmetric in its arguments, that maps U (N, d) and Z (M, d) to k (N, M) and has
nothing to learn: widths belong to `scales`.
"""

from app.sparse_bayes.kernels.gaussian import Gaussian
from app.sparse_bayes.kernels.linear_spline import LinearSpline

Kernel = Gaussian | LinearSpline

__all__ = ["Gaussian", "Kernel", "LinearSpline"]
