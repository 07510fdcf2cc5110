"""Kernels of unit width, one a file; the union is the registry.

A kernel is a frozen dataclass of one of the families `Radial`, `InnerProduct` and `ByInput`: its formula, the formula's
derivative, and flags. The API's schema, the command line's option, predictions, documents, ONNX and the generated
Python file follow from the class and its name in a union: here, or in `Covariance` for the covariance of a stationary
process.

[DUVENAUD2011] is Duvenaud, Nickisch & Rasmussen, Additive Gaussian processes, NIPS 24.
[MACKAY1998] is MacKay, Introduction to Gaussian processes, in Bishop (ed.), Neural Networks and Machine Learning.
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
