"""The effects of inputs on predictions: contributions, joint predictions of rows, and partial dependence.

All are averages of a model's function over rows, as functions of the other inputs, with their uncertainty.

[FRIEDMAN2001] is Friedman, Greedy function approximation: a gradient boosting machine, Annals of Statistics 29 (2001),
section 8.2.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from relevance_bayes.core.basis import KernelFunctions
from relevance_bayes.core.errors import DataError, SparseBayesError
from relevance_bayes.core.models.classes import ReadyPerClass
from relevance_bayes.core.models.hurdle import ReadyHurdle
from relevance_bayes.core.models.local.model import ReadyLocal
from relevance_bayes.core.models.pool import AnyReady, ReadyPool, ready_members
from relevance_bayes.core.models.prediction import Ready, RealPrediction, chunks
from relevance_bayes.core.types import Array, Indices


@dataclass(frozen=True, eq=False)
class Contributions:
    """The functions of the greatest contributions to the latent's mean at N points, greatest first, each (N, k).

    `functions` are their positions in the model, those of a pool's members one after the other; `added` is phi_r(x)
    mu_r in the latent's units, in a pool times the member's share in the mean, and 0 for other classes' models, and
    that of zeros; `shares` is its size over the sum of the sizes of all R, 0 where all are 0. `total` (N,) is the
    latent's mean: the sum of all R, plus that of a nearest-neighbour process.
    """

    functions: Indices
    added: Array
    shares: Array
    total: Array

    def followed_by(self, others: Iterable[Self]) -> Self:
        """Those of these points, and then of the others."""
        parts = [self, *others]
        return type(self)(
            np.concatenate([one.functions for one in parts]),
            np.concatenate([one.added for one in parts]),
            np.concatenate([one.shares for one in parts]),
            np.concatenate([one.total for one in parts]),
        )


def contributions(
    ready: AnyReady,
    X: Array,
    max_functions: int,
    *,
    latents: Indices | None = None,
    noise_sd: Array | None = None,
    weights: Array | None = None,
) -> Contributions:
    """The min(max_functions, R) functions that add most at X (N, d); of equal ones the first.

    `latents` (N,) is the one explained at each point, where a row has several; `noise_sd` as in `Ready.predict`. With
    `weights` (N, C) each of N points is C of the rows of X (N C, d), as those of `latents` and `noise_sd`, and
    contributions are means over them, which add to the mean of their mixture.
    """
    members = ready_members(ready)
    R = sum(len(member.model.mean) for member in members)
    N, C = (len(X), 1) if weights is None else weights.shape
    shape = (N, min(max_functions, R))
    functions, added, shares = np.empty(shape, np.intp), np.empty(shape), np.empty(shape)
    total = np.empty(N)
    for first, stop in chunks(N, R * C):
        some = slice(first * C, stop * C)
        of, noise = None if latents is None else latents[some], None if noise_sd is None else noise_sd[some]
        terms = np.hstack([np.empty((C * (stop - first), 0)), *_terms(ready, X[some], of, noise)])
        latent = terms.sum(axis=1)
        if isinstance(ready, ReadyLocal):
            latent += ready.model.process.latent(X[some]).mean
        if weights is not None:
            w = weights[first:stop]
            terms = (w[:, :, None] * terms.reshape(len(w), C, R)).sum(axis=1)
            latent = (w * latent.reshape(w.shape)).sum(axis=1)
        total[first:stop] = latent
        sizes = np.abs(terms)
        order = np.argsort(-sizes, axis=1, kind="stable")[:, :max_functions]
        whole = sizes.sum(axis=1, keepdims=True)
        functions[first:stop] = order
        added[first:stop] = np.take_along_axis(terms, order, axis=1)
        shares[first:stop] = np.take_along_axis(sizes / np.where(whole > 0.0, whole, 1.0), order, axis=1)
    return Contributions(functions, added, shares, total)


def _terms(ready: AnyReady, X: Array, latents: Indices | None, noise_sd: Array | None) -> Iterator[Array]:
    """The contribution of each function at X (n, d): (n, R), of each member; nothing of those of other classes."""
    match ready:
        case ReadyLocal(trend=None):
            return
        case ReadyLocal(trend=Ready(model=model)) | Ready(model=model):
            yield model.columns(X) * (model.mean if latents is None else model.mean[:, latents].T)
        case ReadyPool(members=members):
            found, _ = ready.predictions(X, noise_sd)
            shares = ready.shares(np.array([one.variance for one in found]))
            for member, share in zip(members, shares, strict=True):
                yield member.model.columns(X) * member.model.mean * share[:, None]
        case ReadyHurdle(zero=zero, positive=positive):  # of the logarithm of positive targets
            yield np.zeros((len(X), len(zero.model.mean)))
            yield positive.model.columns(X) * positive.model.mean
        case ReadyPerClass(members=members):
            if latents is None:
                raise SparseBayesError("expected the class that is explained at each point")
            for number, member in enumerate(members):
                added_by_member = member.model.columns(X) * member.model.mean
                yield np.where((latents == number)[:, None], added_by_member, 0.0)


def joint(ready: AnyReady, X: Array, noise_sd: Array | None = None) -> tuple[Array, Array]:
    """Mean (N,) and covariance (N, N) of new observations at X (N, d) under Gaussian noise.

    P Sigma P' + s (k(x, x') - b'b) + diag(1/beta). Under an independent prior the augmenting functions, of sds d,
    have the covariance d k(x, x') d'. The diagonal is the variance of `Ready.predict`; `noise_sd` as there.

    Of a pool it is D R D, with D the pooled standard deviations and R = sum_k sqrt(r_k(x) r_k(x')) R_k, where R_k are
    the correlations of member k and r_k(x) its share in the mean: positive semi-definite, with 1 on the diagonal.
    Raises DataError.
    """
    if isinstance(ready, ReadyPerClass | ReadyHurdle):
        raise DataError(f"expected Gaussian noise, got {ready.likelihood.type}")
    if isinstance(ready, ReadyLocal):
        raise DataError("expected a sparse model: of a nearest-neighbour process each row has neighbours of its own")
    if isinstance(ready, Ready):
        return _of_one(ready, X, noise_sd)
    pooled, _ = ready.predict(X, noise_sd)
    covariances = [_of_one(member, X, noise_sd)[1] for member in ready.members]
    variances = np.array([covariance.diagonal() for covariance in covariances])
    # D sqrt(r_k) / sd_k for each row: the scale from a member's covariance to its part of the pool's.
    scales = np.sqrt(pooled.variance * ready.shares(variances) / variances)
    total = np.zeros((len(X), len(X)))
    for scale, covariance in zip(scales, covariances, strict=True):
        total += scale[:, None] * covariance * scale
    total.flat[:: len(X) + 1] = pooled.variance
    return pooled.mean, total


def _of_one(ready: Ready, X: Array, noise_sd: Array | None) -> tuple[Array, Array]:
    prediction, _ = ready.predict(X, noise_sd)
    if not isinstance(prediction, RealPrediction):
        raise DataError(f"expected Gaussian noise, got {ready.model.likelihood.type}")
    spread = ready.model.columns(X) @ ready.root
    factor = ready.model.variance_factor
    covariance = factor * (spread @ spread.T) + residual_covariance(ready, X, prediction.residual / factor) * factor
    covariance.flat[:: len(X) + 1] = prediction.variance
    return prediction.mean, 0.5 * (covariance + covariance.T)


def residual_covariance(ready: Ready, X: Array, variance: Array) -> Array:
    """The residual covariance, outside the functions in the model, (N, N)."""
    X = ready.model.within_range(X)
    if ready.augmented is not None:
        sd = np.sqrt(variance)
        return sd[:, None] * _correlation(ready.augmented.functions, X) * sd
    if ready.whitening is not None and ready.model.signal_variance is not None:
        vectors, *_ = ready.model.functions
        if not isinstance(vectors, KernelFunctions):
            raise SparseBayesError("expected the kernel functions of a process first")
        E = vectors(X, np.arange(vectors.size))
        B = ready.whitening.columns(E)
        B = ready.refined(E, B) if ready.is_exact else B
        left: Array = ready.model.signal_variance * (_correlation(vectors, X) - B @ B.T)
        return left
    return np.zeros((len(X), len(X)))


def _correlation(functions: KernelFunctions, X: Array) -> Array:
    U = functions.input_map(X)
    return functions.kernel(U, U)


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
