"""The kernels that are the covariance of a stationary process, 1 at distance 0, as they may be asked for."""

from app.sparse_bayes.kernels.cauchy import Cauchy
from app.sparse_bayes.kernels.city_block import CityBlock
from app.sparse_bayes.kernels.gaussian import Gaussian
from app.sparse_bayes.kernels.inverse_multiquadric import InverseMultiquadric
from app.sparse_bayes.kernels.laplacian import Laplacian
from app.sparse_bayes.kernels.matern32 import Matern32
from app.sparse_bayes.kernels.matern52 import Matern52
from app.sparse_bayes.kernels.periodic import Periodic
from app.sparse_bayes.kernels.rational_quadratic import RationalQuadratic

Covariance = (
    Gaussian | Matern32 | Matern52 | Laplacian | Cauchy | RationalQuadratic | CityBlock | InverseMultiquadric | Periodic
)
