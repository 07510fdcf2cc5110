"""The softmax integrated over independent Gaussians of equal variance.

The softmax of f is the distribution of the argmax of f_k + G_k, G_k independent and of Gumbel's distribution. So with F
and p the distribution and density of N(0, v) + G, the integral is one over x,

    E softmax(f)_k = int p(x - m_k) prod_(j != k) F(x - m_j) dx,

whose integrand falls off as Gaussians do: the trapezoidal rule converges geometrically. F and p are averages of
Gumbel's over the Gaussian where that is narrow, else of the Gaussian's over Gumbel's, by Gauss quadrature.
"""

from math import pi

import numpy as np

from relevance_bayes.core.likelihoods.bernoulli import BOTH_SIGNS, sigmoid_integral
from relevance_bayes.core.numpy_namespace import NUMPY
from relevance_bayes.core.tracing import A, ExtendedNamespace
from relevance_bayes.core.types import Array

NARROW_SD = 1.3
"""Sd of the latent up to which Gumbel's distribution is averaged over the Gaussian."""

GAUSSIAN_NODES, GUMBEL_NODES = 7, 7

GUMBEL_VARIANCE = pi**2 / 6.0

PLACES: Array = np.arange(-4.0, 7.01, 0.6)
"""The points of the integrand, in sds of N(0, v) + G from the greatest mean."""

CELLS = 2**17
"""The most numbers of one array, which bounds the rows integrated at once."""

MAX_EXPONENT = 700.0
"""The largest exponent of exp without overflow."""

TINY = float(np.finfo(float).tiny)


def _gumbel_rule(nodes: int) -> tuple[Array, Array]:
    """Points and weights of the Gauss quadrature of Gumbel's distribution, by Lanczos's method on a fine grid."""
    g = np.linspace(-4.0, 45.0, 4_901)
    weights = np.exp(-g - np.exp(-g))
    weights /= weights.sum()
    diagonal, beside = list[float](), list[float]()
    before, now = np.zeros(len(g)), np.ones(len(g))
    for _ in range(nodes):
        diagonal.append(float(weights @ (g * now * now)))
        after = (g - diagonal[-1]) * now - (beside[-1] if beside else 0.0) * before
        beside.append(float(np.sqrt(weights @ (after * after))))
        before, now = now, after / beside[-1]
    points, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(beside[:-1], 1) + np.diag(beside[:-1], -1))
    return points, vectors[0] ** 2


GUMBEL_POINTS, GUMBEL_WEIGHTS = _gumbel_rule(GUMBEL_NODES)
GAUSSIAN_POINTS, _weights = np.polynomial.hermite_e.hermegauss(GAUSSIAN_NODES)
GAUSSIAN_WEIGHTS: Array = _weights / _weights.sum()


def integrated_softmax(mean: Array, variance: Array) -> Array:
    """E softmax(f), f_k ~ N(mean_k, variance) independent: mean (N, K), variance (N,). See `softmax_integral`."""
    return softmax_integral(NUMPY, mean, variance[:, None], mean.shape[1])


def softmax_integral(xp: ExtendedNamespace[A], mean: A, variance: A, classes: int) -> A:
    """E softmax(f), f_k ~ N(mean_k, variance) independent: mean (N, K), variance (N, 1). To about 1e-4.

    Of two classes it is the integral of the sigmoid of their difference, of variance 2v.
    """
    if classes == 2:
        return sigmoid_integral(xp, xp.matmul(mean, BOTH_SIGNS[:, None]) * BOTH_SIGNS, 2.0 * variance)
    sd, cells = xp.sqrt(variance), CELLS // (len(PLACES) * max(GAUSSIAN_NODES, GUMBEL_NODES))
    return xp.apply_where(sd <= NARROW_SD, _narrow, _wide, mean, sd, cells=cells)


def _narrow(xp: ExtendedNamespace[A], mean: A, sd: A) -> A:
    """By Gumbel's distribution, averaged over the Gaussian."""
    y = xp.expand_dims(_apart(xp, mean, sd), axis=3)
    spread = xp.expand_dims(xp.expand_dims(sd, axis=2), axis=3)
    e = xp.exp(xp.minimum(spread * GAUSSIAN_POINTS - y, MAX_EXPONENT))
    gumbel = xp.exp(-e)
    return _largest(xp, xp.matmul(gumbel, GAUSSIAN_WEIGHTS), xp.matmul(e * gumbel, GAUSSIAN_WEIGHTS))


def _wide(xp: ExtendedNamespace[A], mean: A, sd: A) -> A:
    """By the Gaussian's, averaged over Gumbel's; the density up to sd sqrt(2 pi)."""
    y = xp.expand_dims(_apart(xp, mean, sd), axis=3)
    spread = xp.expand_dims(xp.expand_dims(xp.maximum(sd, NARROW_SD), axis=2), axis=3)
    z = (y - GUMBEL_POINTS) / spread
    density = xp.matmul(xp.exp(-0.5 * z * z), GUMBEL_WEIGHTS)
    return _largest(xp, xp.matmul(xp.ndtr(z), GUMBEL_WEIGHTS), density)


def _apart(xp: ExtendedNamespace[A], mean: A, sd: A) -> A:
    """The x of the integral less each mean, (N, K, n)."""
    unit = xp.sqrt(xp.square(sd) + GUMBEL_VARIANCE)
    x = xp.max(mean, axis=1, keepdims=True) + unit * PLACES
    return xp.expand_dims(x, axis=1) - xp.expand_dims(mean, axis=2)


def _largest(xp: ExtendedNamespace[A], share: A, density: A) -> A:
    """The probability that each is the greatest, (N, K), by F and p (N, K, n)."""
    logs = xp.log(xp.maximum(share, TINY))
    whole = xp.exp(xp.sum(logs, axis=1, keepdims=True) - logs)
    alone = xp.maximum(xp.sum(density * whole, axis=2, keepdims=False), TINY)
    return alone / xp.sum(alone, axis=1, keepdims=True)
