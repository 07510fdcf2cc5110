"""Averages of a model's function over rows, as functions of the other inputs, with their uncertainty.

[FRIEDMAN2001] is Friedman, Greedy function approximation: a gradient boosting machine, Annals of Statistics 29 (2001),
section 8.2.
"""

import numpy as np

from relevance_bayes.core.joint import residual_covariance
from relevance_bayes.core.pool import ReadyPool
from relevance_bayes.core.prediction import Ready
from relevance_bayes.core.types import Array


def averages(ready: Ready | ReadyPool, X: Array, groups: int) -> tuple[Array, Array]:
    """Return mean (G,) and variance (G,) of the average of the latent function over each of `groups` equal groups of
    consecutive rows of X (N, d).

    With p the average of a group's columns and C its residual covariance (n, n), the mean is p'mu and the variance
    p'Sigma p + sum_ij C_ij / n^2. Of a pool the columns and C of member k are scaled by D sqrt(r_k) / sd_k of each row,
    as in `joint`: this is the average of its covariance without noise. With groups that differ in one input alone it is
    the partial dependence on that input [FRIEDMAN2001]. Raises DataError.
    """
    if isinstance(ready, Ready):
        latent = ready.checked(X, None)
        variance = _variance(ready, X, latent.residual, np.ones(len(X)), groups)
        return _grouped(latent.mean, groups), ready.model.variance_factor * variance
    pooled, _ = ready.predict(X)
    found, _ = ready.predictions(X, None)
    variances = np.array([one.variance for one in found])
    scales = np.sqrt(pooled.variance * ready.shares(variances) / variances)
    parts = zip(ready.members, found, scales, strict=True)
    variance = sum(
        (_variance(member, X, one.residual, scale, groups) for member, one, scale in parts), np.zeros(groups)
    )
    return _grouped(pooled.mean, groups), variance


def _variance(ready: Ready, X: Array, residual: Array, scale: Array, groups: int) -> Array:
    """Return the variance (G,) of the averages of a member's function times `scale` (N,)."""
    rows = len(X) // groups
    has_residual = ready.augmented is not None or ready.whitening is not None
    variance = np.empty(groups)
    for group in range(groups):
        some = slice(group * rows, (group + 1) * rows)
        spread = (scale[some] @ ready.model.columns(X[some]) / rows) @ ready.root
        variance[group] = spread @ spread
        if has_residual:
            left = residual_covariance(ready, X[some], residual[some])
            left.flat[:: rows + 1] = residual[some]
            # Of the average of a process that the functions explain, rounding may leave less than nothing.
            variance[group] += max(float(scale[some] @ left @ scale[some]), 0.0) / rows**2
    return variance


def _grouped(values: Array, groups: int) -> Array:
    return np.asarray(values.reshape(groups, -1).mean(axis=1))
