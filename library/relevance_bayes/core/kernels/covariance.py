"""The kernels that are the covariance of a stationary process, 1 at distance 0, as they may be asked for."""

from relevance_bayes.core.kernels.cauchy import Cauchy
from relevance_bayes.core.kernels.city_block import CityBlock
from relevance_bayes.core.kernels.gaussian import Gaussian
from relevance_bayes.core.kernels.inverse_multiquadric import InverseMultiquadric
from relevance_bayes.core.kernels.laplacian import Laplacian
from relevance_bayes.core.kernels.matern32 import Matern32
from relevance_bayes.core.kernels.matern52 import Matern52
from relevance_bayes.core.kernels.periodic import Periodic
from relevance_bayes.core.kernels.rational_quadratic import RationalQuadratic

Covariance = (
    Gaussian | Matern32 | Matern52 | Laplacian | Cauchy | RationalQuadratic | CityBlock | InverseMultiquadric | Periodic
)
