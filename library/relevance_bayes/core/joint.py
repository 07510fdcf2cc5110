"""Joint predictions of several points: their covariance."""

import numpy as np

from relevance_bayes.core.basis import KernelFunctions
from relevance_bayes.core.errors import DataError, SparseBayesError
from relevance_bayes.core.hurdle import ReadyHurdle
from relevance_bayes.core.local_model import ReadyLocal
from relevance_bayes.core.per_class import ReadyPerClass
from relevance_bayes.core.pool import AnyReady
from relevance_bayes.core.prediction import Ready, RealPrediction
from relevance_bayes.core.types import Array


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
