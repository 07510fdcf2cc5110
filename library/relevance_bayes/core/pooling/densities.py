"""The product of Gaussian densities and the weights under which it predicts best."""

from dataclasses import dataclass

import numpy as np
import scipy

from relevance_bayes.core.types import Array, Indices

PENALTY = 0.25
"""The log of each weight, before they are made to add to 1, has a normal prior of variance 1 / (2 PENALTY)."""

CORNER = 2.0
"""Where the search for weights starts from beside equal ones: the log of one weight over the others."""

MAX_LOG_WEIGHT = 6.0

MAX_SHORTFALL = 20.0
"""Nats by which a row's density may fall short of the best member's: one row that all folds mistake decides nothing."""


@dataclass(frozen=True, eq=False)
class Densities:
    """Gaussian predictive densities of N rows by K members: `means` and `variances` (N, K), the latter with noise."""

    means: Array
    variances: Array

    def shares(self, weights: Array) -> Array:
        """r_nk = w_k v_n / v_nk, (N, K): the members' shares in each row's mean, which add to 1."""
        precisions = weights / self.variances
        return np.asarray(precisions / precisions.sum(axis=1, keepdims=True))

    def product(self, weights: Array) -> tuple[Array, Array]:
        """Mean and variance (N,) of the product of the densities to the powers `weights` (K,), normalised.

        1/v = sum_k w_k / v_k and m = v sum_k w_k m_k / v_k [CAO2014, eq. 4]. With weights that add to 1, the
        number of members that agree does not reduce the variance.
        """
        variance = 1.0 / (weights / self.variances).sum(axis=1)
        return np.vecdot(self.shares(weights), self.means), variance

    def log_density(self, t: Array, weights: Array) -> Array:
        """log N(t; m, v) of the product, (N,), in nats."""
        mean, variance = self.product(weights)
        return log_normal(t, mean, variance)

    def best_weights(self, t: Array) -> Array:
        """The weights (K,), which add to 1, of greatest penalised log density of the targets t (N,).

        w = softmax(theta) maximises sum_n log N(t_n; m_n, v_n) - PENALTY |theta|^2, from equal weights and from each
        corner: there are several maxima, and without the penalty some are at a single member.
        """
        K = self.means.shape[1]
        starts = [np.zeros(K), *(CORNER * np.eye(K) if K > 1 else ())]
        bounds = [(-MAX_LOG_WEIGHT, MAX_LOG_WEIGHT)] * K
        found = [
            scipy.optimize.minimize(self._loss, start, (t,), jac=True, method="L-BFGS-B", bounds=bounds)
            for start in starts
        ]
        best = min(found, key=lambda end: float(end.fun))
        return np.asarray(scipy.special.softmax(best.x))

    def taken(self, members: Indices) -> "Densities":
        """The densities of the members of these indices (L,)."""
        return Densities(self.means[:, members], self.variances[:, members])

    def of_members(self, t: Array) -> Array:
        """log N(t; m_k, v_k), (N, K), in nats."""
        return log_normal(t[:, None], self.means, self.variances)

    def rows(self, chosen: Indices) -> "Densities":
        """The densities of the rows `chosen` (n,)."""
        return Densities(self.means[chosen], self.variances[chosen])

    def _loss(self, theta: Array, t: Array) -> tuple[float, Array]:
        """Minus the penalised log density, and its gradient (K,) in theta.

        With q = 1/v and e = t - m: d log N / d w_k = (1/(2q) - e^2/2) / v_k + e (m_k - m) / v_k.
        """
        weights = np.asarray(scipy.special.softmax(theta))
        mean, variance = self.product(weights)
        error = t - mean
        density = log_normal(t, mean, variance)
        lowest = self.of_members(t).max(axis=1) - MAX_SHORTFALL
        counts = density > lowest
        slopes = (0.5 * (variance - error**2)[:, None] + error[:, None] * (self.means - mean[:, None])) / self.variances
        slope = slopes[counts].sum(axis=0)
        value = float(np.maximum(density, lowest).sum()) - PENALTY * float(theta @ theta)
        gradient = weights * (slope - float(weights @ slope)) - 2.0 * PENALTY * theta
        return -value, -gradient


def log_normal(t: Array, mean: Array, variance: Array) -> Array:
    """log N(t; mean, variance), in nats."""
    return np.asarray(-0.5 * (np.log(2.0 * np.pi * variance) + (t - mean) ** 2 / variance))
