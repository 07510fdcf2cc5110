"""Kernels of unit width, a file for each family; the union is the registry.

A kernel is a frozen dataclass of one of the families `Radial`, `InnerProduct` and `ByInput`: its formula, the formula's
derivative, and flags. The API's schema, the command line's option, predictions, documents, ONNX and the generated
Python file follow from the class and its name in a union: here, or in `Covariance` for the covariance of a stationary
process.

[DUVENAUD2011] is Duvenaud, Nickisch & Rasmussen, Additive Gaussian processes, NIPS 24.
[MACKAY1998] is MacKay, Introduction to Gaussian processes, in Bishop (ed.), Neural Networks and Machine Learning.
[RASMUSSEN2006] is Rasmussen & Williams, Gaussian Processes for Machine Learning, MIT Press.
"""

from relevance_bayes.core.kernels.by_input import CityBlock, LinearSpline
from relevance_bayes.core.kernels.covariance import Additive, Covariance
from relevance_bayes.core.kernels.inner_product import Linear, Polynomial, Sigmoid
from relevance_bayes.core.kernels.radial import (
    Cauchy,
    Cubic,
    Gaussian,
    Laplacian,
    Matern32,
    Matern52,
    RationalQuadratic,
    ThinPlate,
)

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
