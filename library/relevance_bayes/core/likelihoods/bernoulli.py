"""The likelihood of two classes, and the temperature of class probabilities.

[MONAHAN1992] is Monahan & Stefanski, Normal scale mixture approximations to F*(z) and computation of the
logistic-normal integral, in: Balakrishnan (ed.), Handbook of the Logistic Distribution.

[GUO2017] is Guo et al., On calibration of modern neural networks, ICML.
"""

from dataclasses import dataclass
from math import exp, log
from typing import ClassVar, Literal, TypeAlias

import numpy as np
import scipy

from relevance_bayes.core.errors import DataError, OneClassError
from relevance_bayes.core.likelihoods.base import ClassLikelihoodBase, Sites, Targets
from relevance_bayes.core.numpy_namespace import NUMPY
from relevance_bayes.core.tracing import A, ExtendedNamespace
from relevance_bayes.core.types import Array, ForRows

Temperature: TypeAlias = Literal["learned"] | float
"""T > 0 of p_k^(1/T) / sum_j p_j^(1/T): above 1 probabilities are less certain. Where it is "learned" it is 1 until
it is fitted to held-out rows."""

MIN_TEMPERATURE, MAX_TEMPERATURE = 0.05, 20.0
"""Bounds of a temperature, given or learned."""

LOG_TEMPERATURE_SD = 0.25
"""The sd of the Gaussian prior of log T."""

GRID = 61
"""Temperatures on the grid before the best is refined: the log prior is not concave in 1/T."""

TINY = float(np.finfo(float).tiny)


def temperature_of(temperature: Temperature) -> float:
    """The value of a temperature, 1 before it is learned."""
    return 1.0 if temperature == "learned" else float(temperature)


def tempered(xp: ExtendedNamespace[A], probabilities: A, temperature: Temperature) -> A:
    """p_k^(1/T) / sum_j p_j^(1/T) of each row's probabilities (N, K); unchanged at T = 1."""
    t = temperature_of(temperature)
    return probabilities if t == 1.0 else softmax(xp, xp.log(xp.maximum(probabilities, TINY)) / t)


def softmax(xp: ExtendedNamespace[A], f: A) -> A:
    """exp of each row's numbers (N, K) over their sum."""
    e = xp.exp(f - xp.max(f, axis=1, keepdims=True))
    return e / xp.sum(e, axis=1, keepdims=True)


def fitted_temperature(probabilities: Array, t: Array) -> float:
    """argmax_T sum_n log [p_n^(1/T) / sum_k p_nk^(1/T)]_(t_n) - 1/2 (log T / .25)^2, within the bounds.

    `probabilities` (N, K) at T = 1 of held-out rows, t (N,) their classes, 0.0 to K - 1.
    """
    logs = np.log(np.maximum(probabilities, TINY))
    # Relative to the most probable class, so that no exp overflows: its terms scale with 1/T as all others do.
    top = logs.max(axis=1)
    behind = float((top - np.take_along_axis(logs, t.astype(np.intp)[:, None], axis=1)[:, 0]).sum())
    logs -= top[:, None]

    def loss(log_t: float) -> float:
        colder = exp(-log_t)
        log_sums = np.log(np.exp(colder * logs).sum(axis=1))
        return colder * behind + float(log_sums.sum()) + 0.5 * (log_t / LOG_TEMPERATURE_SD) ** 2

    grid = np.linspace(log(MIN_TEMPERATURE), log(MAX_TEMPERATURE), GRID)
    best = int(np.argmin([loss(float(one)) for one in grid]))
    bounds = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, GRID - 1)])
    found = scipy.optimize.minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-9})
    return exp(float(found.x))


@dataclass(frozen=True)
class Bernoulli(ClassLikelihoodBase):
    """p(t = 1 | f) = 1/(1 + exp(-f)), t in {0, 1}, by Laplace's approximation [TIPPING1999, eqs 11 and 12; TIPPING2001,
    section 3; THEORY 14]. `temperature` is that of the probabilities: see `tempered`."""

    temperature: Temperature = "learned"
    type: Literal["bernoulli"] = "bernoulli"

    targets: ClassVar[Targets] = "class"
    is_log_concave: ClassVar[bool] = True
    max_latent_sd: ClassVar[float] = 100.0
    min_gain: ClassVar[float] = 0.1

    def check(self, t: Array) -> None:
        """Raise DataError unless t (N,) is 0 or 1, OneClassError unless both occur."""
        if not np.isin(t, (0.0, 1.0)).all():
            raise DataError("expected classes 0.0 and 1.0 as targets")
        if np.all(t == t[0]):
            raise OneClassError(f"expected rows of two classes, got only class {t[0]:g}")

    def log_density(self, t: Array, f: Array, beta: ForRows) -> Array:
        """log p(t_n | f_n), (N,)."""
        return t * f - np.logaddexp(0.0, f)

    def sites(self, t: Array, f: Array, beta: ForRows) -> tuple[Array, Array]:
        """lam = sigma(f)(1 - sigma(f)) and g = t - sigma(f), each (N,).

        Minus the second and the first derivative of log p.
        """
        sigma = scipy.special.expit(f)
        return sigma * scipy.special.expit(-f), t - sigma

    def expected(self, t: Array, f: Array, v: Array, beta: ForRows) -> Sites:
        """ell, g = t - E sigma and lam = E sigma (1 - sigma) under N(f, v), each (N,)."""
        softplus, sigma, slope = expected_softplus(f, v)
        return Sites(t * f - softplus, t - sigma, slope)

    def precision_slope(self, t: Array, f: Array) -> Array:
        """d lam / d f = sigma (1 - sigma)(1 - 2 sigma), (N,)."""
        sigma = scipy.special.expit(f)
        return sigma * scipy.special.expit(-f) * (1.0 - 2.0 * sigma)

    def probabilities(self, xp: ExtendedNamespace[A], mean: A, variance: A, noise: A) -> A:
        """The sigmoid integrated over the Gaussian of the latent, at its temperature."""
        if temperature_of(self.temperature) == 1.0:
            return sigmoid_integral(xp, mean, variance) * BOTH_SIGNS + OF_FIRST
        # 1 - p has lost digits that a temperature needs.
        return tempered(xp, sigmoid_integral(xp, mean * BOTH_SIGNS, variance), self.temperature)


NARROW = 3.0
"""Latent sd up to which the integral is in the Gaussian's variable; above it is in the sigmoid's."""

Z: Array = np.linspace(-8.5, 8.5, 69)
Z_WEIGHTS: Array = np.exp(-0.5 * Z**2) / np.exp(-0.5 * Z**2).sum()
"""Points of the trapezoidal rule in the Gaussian's variable, ..."""

Y: Array = np.linspace(-36.0, 36.0, 97)
_slopes = np.cosh(0.5 * Y) ** -2  # of the sigmoid, times 4, without importing scipy
Y_WEIGHTS: Array = _slopes / _slopes.sum()
"""... and in the sigmoid's."""

CELLS = 2**15
"""Rows that are integrated at once."""

MIXED_ROWS = 2**12
"""Rows whose expectations under the mixture are computed at once."""

BOTH_SIGNS: Array = np.array([-1.0, 1.0])
OF_FIRST: Array = np.array([1.0, 0.0])
"""The columns of both classes from that of the second."""

MIXTURE_SHARES = np.array(
    [
        0.003246343272134,
        0.051517477033972,
        0.195077912673858,
        0.315569823632818,
        0.274149576158423,
        0.131076880695470,
        0.027912418727972,
        0.001449567805354,
    ]
)
MIXTURE_PRECISIONS = np.square(
    [
        1.365340806296348,
        1.059523971016916,
        0.830791313765644,
        0.650732166639391,
        0.508135425366489,
        0.396313345166341,
        0.308904252267995,
        0.238212616409306,
    ]
)
"""The logistic distribution as a mixture of eight normal ones around 0: shares and precisions [MONAHAN1992]."""
DENSITY_SHARES = MIXTURE_SHARES / np.sqrt(2.0 * np.pi)


def expected_softplus(mean: Array, variance: Array) -> tuple[Array, Array, Array]:
    """The expectations of log(1 + e^f), sigma(f) and sigma(f)(1 - sigma(f)) under N(mean, variance), each (N,).

    sigma is the distribution function of a logistic variable y, and log(1 + e^f) the expectation of (f - y)_+. With y
    a mixture of normal variables f - y is one too, and all three are closed, each the exact derivative of the one
    before it; they are within 1e-8, 3e-9 and 2e-8 of the expectations for every variance.
    """
    softplus, sigma, slope = np.empty_like(mean), np.empty_like(mean), np.empty_like(mean)
    for first in range(0, len(mean), MIXED_ROWS):
        some = slice(first, first + MIXED_ROWS)
        m = mean[some]
        sd = np.sqrt(variance[some, None] + 1.0 / MIXTURE_PRECISIONS)
        off = m[:, None] / sd
        sigma[some] = scipy.special.ndtr(off) @ MIXTURE_SHARES
        np.square(off, out=off)
        off *= -0.5
        density = np.exp(off, out=off)
        slope[some] = (density / sd) @ DENSITY_SHARES
        sd *= density
        softplus[some] = m * sigma[some] + sd @ DENSITY_SHARES
    return softplus, sigma, slope


def integrated_sigmoid(mean: Array, variance: Array) -> Array:
    """The integral of sigma(f) N(f; mean, variance) over f, (N,): see `sigmoid_integral`."""
    return sigmoid_integral(NUMPY, mean, variance)


def sigmoid_integral(xp: ExtendedNamespace[A], mean: A, variance: A) -> A:
    """The integral of sigma(f) N(f; mean, variance) over f, of the shape of the mean, to about 1e-11.

    The trapezoidal rule converges geometrically for functions that are analytic in a strip: in the Gaussian's
    variable the sigmoid's poles lie at a distance of pi/sd, in the sigmoid's own variable at pi. Each is used where
    its strip is wide.
    """
    sd = xp.sqrt(variance)
    return xp.apply_where(sd <= NARROW, _over_gaussian, _over_logistic, mean, sd, cells=CELLS)


def _over_gaussian(xp: ExtendedNamespace[A], mean: A, sd: A) -> A:
    return xp.matmul(xp.expit(xp.expand_dims(mean, axis=-1) + xp.expand_dims(sd, axis=-1) * Z), Z_WEIGHTS)


def _over_logistic(xp: ExtendedNamespace[A], mean: A, sd: A) -> A:
    wide = xp.expand_dims(xp.maximum(sd, NARROW), axis=-1)
    return xp.matmul(xp.ndtr((xp.expand_dims(mean, axis=-1) - Y) / wide), Y_WEIGHTS)
