"""Kernels of unit width, one a file; the union is the registry.

A kernel is a frozen dataclass of one of the families `Radial`, `InnerProduct` and `ByInput`: its formula, the formula's
derivative, and flags. The API's schema, the command line's option, predictions, documents, ONNX and the generated
Python file follow from the class and its name in a union: here, or in `Covariance` for the covariance of a stationary
process.

[DUVENAUD2011] is Duvenaud, Nickisch & Rasmussen, Additive Gaussian processes, NIPS 24.
[MACKAY1998] is MacKay, Introduction to Gaussian processes, in Bishop (ed.), Neural Networks and Machine Learning.
[RASMUSSEN2006] is Rasmussen & Williams, Gaussian Processes for Machine Learning, MIT Press.
"""

from relevance_bayes.core.kernels.additive import Additive
from relevance_bayes.core.kernels.cauchy import Cauchy
from relevance_bayes.core.kernels.city_block import CityBlock
from relevance_bayes.core.kernels.covariance import Covariance
from relevance_bayes.core.kernels.cubic import Cubic
from relevance_bayes.core.kernels.gaussian import Gaussian
from relevance_bayes.core.kernels.laplacian import Laplacian
from relevance_bayes.core.kernels.linear import Linear
from relevance_bayes.core.kernels.linear_spline import LinearSpline
from relevance_bayes.core.kernels.matern32 import Matern32
from relevance_bayes.core.kernels.matern52 import Matern52
from relevance_bayes.core.kernels.polynomial import Polynomial
from relevance_bayes.core.kernels.rational_quadratic import RationalQuadratic
from relevance_bayes.core.kernels.sigmoid import Sigmoid
from relevance_bayes.core.kernels.thin_plate import ThinPlate

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
