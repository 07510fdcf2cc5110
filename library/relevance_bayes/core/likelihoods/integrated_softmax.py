"""The softmax integrated over independent Gaussians of equal variance.

The softmax of f is which of f_k + G_k is greatest, G_k independent and of Gumbel's distribution. So with F and p the
distribution and density of N(0, v) + G, the integral is one over x,

    E softmax(f)_k = int p(x - m_k) prod_(j != k) F(x - m_j) dx,

whose integrand falls off as Gaussians do: the trapezoidal rule converges geometrically. F and p are averages of
Gumbel's over the Gaussian where that is narrow, else of the Gaussian's over Gumbel's, by Gauss quadrature.
"""

from math import pi

import numpy as np
import scipy

from relevance_bayes.core.likelihoods.bernoulli import integrated_sigmoid
from relevance_bayes.core.types import Array

NARROW_SD = 1.3
"""Sd of the latent up to which Gumbel's distribution is averaged over the Gaussian."""

GAUSSIAN_NODES, GUMBEL_NODES = 7, 7

GUMBEL_VARIANCE = pi**2 / 6.0

PLACES = np.arange(-4.0, 7.01, 0.6)
"""Where the integrand is evaluated, in sds of N(0, v) + G, from the greatest mean on."""

CELLS = 2**17
"""Numbers of one array at most: rows are integrated so many at a time."""

MAX_EXPONENT = 700.0
"""e to this is still a number."""

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
GAUSSIAN_WEIGHTS = _weights / _weights.sum()


def integrated_softmax(mean: Array, variance: Array) -> Array:
    """E softmax(f), f_k ~ N(mean_k, variance) independent: mean (N, K), variance (N,). To about 1e-4.

    Of two classes it is the integral of the sigmoid of their difference, of variance 2v.
    """
    if mean.shape[1] == 2:
        apart = mean[:, 1] - mean[:, 0]
        return np.column_stack([integrated_sigmoid(-apart, 2.0 * variance), integrated_sigmoid(apart, 2.0 * variance)])
    rows = max(1, CELLS // (mean.shape[1] * len(PLACES) * max(GAUSSIAN_NODES, GUMBEL_NODES)))
    answer, sd = np.empty(mean.shape), np.sqrt(variance)
    narrow = sd <= NARROW_SD
    for kind in (True, False):
        places = np.flatnonzero(narrow == kind)
        for first in range(0, len(places), rows):
            some = places[first : first + rows]
            answer[some] = _integrated(mean[some], sd[some], narrow=kind)
    return answer


def _integrated(mean: Array, sd: Array, *, narrow: bool) -> Array:
    unit = np.sqrt(sd**2 + GUMBEL_VARIANCE)
    x = mean.max(axis=1, keepdims=True) + unit[:, None] * PLACES
    averaged = _over_gaussian if narrow else _over_gumbel
    share, density = averaged(x[:, None, :] - mean[:, :, None], sd[:, None, None])
    logs = np.log(np.maximum(share, TINY))
    whole = np.exp(logs.sum(axis=1, keepdims=True) - logs)
    alone = np.maximum((density * whole).sum(axis=2), TINY)
    return np.asarray(alone / alone.sum(axis=1, keepdims=True))


def _over_gaussian(y: Array, sd: Array) -> tuple[Array, Array]:
    """F and p at y (N, K, n), by Gumbel's own."""
    e = np.exp(np.minimum(sd[..., None] * GAUSSIAN_POINTS - y[..., None], MAX_EXPONENT))
    gumbel = np.exp(-e)
    return gumbel @ GAUSSIAN_WEIGHTS, (e * gumbel) @ GAUSSIAN_WEIGHTS


def _over_gumbel(y: Array, sd: Array) -> tuple[Array, Array]:
    """F and sd sqrt(2 pi) p at y (N, K, n), by the Gaussian's own."""
    z = (y[..., None] - GUMBEL_POINTS) / sd[..., None]
    return scipy.special.ndtr(z) @ GUMBEL_WEIGHTS, np.exp(-0.5 * z * z) @ GUMBEL_WEIGHTS
