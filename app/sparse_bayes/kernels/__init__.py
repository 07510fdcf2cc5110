"""Kernels of unit width, one a file; the union is the registry.

A kernel is a frozen dataclass, symmetric in its arguments, that maps U (N, d) and Z (M, d) to k (N, M) and has
nothing to learn: widths belong to `scales`. `positive_definite` says that k(U, U) never has a negative eigenvalue;
`stationary` that k depends on |u - z| alone. `pull(U, Z, D) -> (dU, dZ)` takes the gradient of a number
from k(U, Z) back to U and Z.

[DUVENAUD2011] is Duvenaud, Nickisch & Rasmussen, Additive Gaussian processes, NIPS 24.
[RASMUSSEN2006] is Rasmussen & Williams, Gaussian Processes for Machine Learning, MIT Press.
"""

from app.sparse_bayes.kernels.additive import Additive
from app.sparse_bayes.kernels.cauchy import Cauchy
from app.sparse_bayes.kernels.city_block import CityBlock
from app.sparse_bayes.kernels.covariance import Covariance
from app.sparse_bayes.kernels.cubic import Cubic
from app.sparse_bayes.kernels.gaussian import Gaussian
from app.sparse_bayes.kernels.laplacian import Laplacian
from app.sparse_bayes.kernels.linear import Linear
from app.sparse_bayes.kernels.linear_spline import LinearSpline
from app.sparse_bayes.kernels.matern32 import Matern32
from app.sparse_bayes.kernels.matern52 import Matern52
from app.sparse_bayes.kernels.polynomial import Polynomial
from app.sparse_bayes.kernels.rational_quadratic import RationalQuadratic
from app.sparse_bayes.kernels.sigmoid import Sigmoid
from app.sparse_bayes.kernels.thin_plate import ThinPlate

Kernel = Covariance | Linear | Polynomial | LinearSpline | Cubic | ThinPlate | Sigmoid

__all__ = [
    "Additive",
    "Cauchy",
    "CityBlock",
    "Covariance",
    "Cubic",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "LinearSpline",
    "Matern32",
    "Matern52",
    "Polynomial",
    "RationalQuadratic",
    "Sigmoid",
    "ThinPlate",
]
