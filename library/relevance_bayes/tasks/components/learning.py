"""Learning of components: the rows whose images span the covariance of all images, and its noise variance.

The images phi_n of N rows in the kernel's space are modelled as draws of N(0, C), C = sigma^2 I + sum_m w_m phi_m
phi_m', with one weight w_m = 1/alpha_m a row, and C's likelihood is maximised: with s_m = phi_m'C_-m^-1 phi_m and q_mn
= phi_m'C_-m^-1 phi_n by alpha_m = s_m^2/(mean_n q_mn^2 - s_m), where that is positive, else infinite. sigma is fixed.
"""

from collections.abc import Iterator

import numpy as np

from relevance_bayes.core.errors import DataError, UnfitWidthError
from relevance_bayes.core.fitting import FitLog
from relevance_bayes.core.folds import by_content, random_folds, subset
from relevance_bayes.core.hyperparameters import InputMap
from relevance_bayes.core.kernels import Covariance
from relevance_bayes.core.linalg import squared_distances
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.tasks.components.space import Components
from relevance_bayes.tasks.components.weights import likelihood_gain, weights

MAX_ROWS = 2_000
"""The most training rows, drawn by content: each is the target of all others."""

FOLDS = 5

MAX_MEASURED = 10_000
"""The most held-out rows whose log densities are reported, drawn by content."""

ROUNDING = 1e-12
"""Variances below this share of the greatest count as 0."""


def components(
    X: Array,
    kernel: Covariance,
    input_map: InputMap,
    *,
    explained: float = 0.9,
    seed: int = 0,
    fit_log: FitLog | None = None,
) -> Iterator[int | Components]:
    """Yield the number of rows kept after each step, then the components; X (N, d). Every step is recorded in the
    `fit_log`.

    sigma^2 is the variance along the first principal axis that is not needed to explain the share `explained`. Raises
    DataError for another X, and for a share not in (0, 1), UnfitWidthError where at the width all rows are independent,
    or all equal.
    """
    if not 0.0 < explained < 1.0:
        raise DataError(f"expected a share above 0 and below 1 to be explained, got {explained:g}")
    rows = drawn(X, seed)
    U = input_map(X[rows])
    K = kernel(U, U)
    noise_variance = _left(K, explained)
    for found in _learned(X, rows, kernel, input_map, K, noise_variance, fit_log or FitLog()):
        if isinstance(found, Components) and not len(found.rows):
            raise UnfitWidthError("expected rows of which some are alike, but by this width none is like another")
        yield found if isinstance(found, Components) else int(np.count_nonzero(found))


def usual_densities(
    X: Array, found: Components, *, seed: int = 0, fit_log: FitLog | None = None
) -> Iterator[int | Array]:
    """Yield the number of completed folds, then the sorted log densities of rows from the distribution of X (N, d).

    Densities at training rows are too high. So these are the densities of at most `MAX_MEASURED` held-out rows, where
    there are at least as many as training rows; else those of training rows by components of the other folds, at the
    same noise variance. `seed` is that of `found`; `fit_log` is continued.
    """
    rows = drawn(X, seed)
    if len(X) >= 2 * len(rows):
        others = by_content(X, np.zeros(len(X)), seed)[len(rows) :][:MAX_MEASURED]
        yield FOLDS
        yield np.sort(found.log_density(X[others]))
        return
    U = found.input_map(X[rows])
    K = found.kernel(U, U)
    densities, own_log = np.empty(len(rows)), fit_log or FitLog()
    for number, (rest, fold) in enumerate(random_folds(X[rows], np.zeros(len(rows)), min(FOLDS, len(rows)), seed)):
        inner, noise_variance = K[np.ix_(rest, rest)], found.noise_variance
        for last in _learned(X, rows[rest], found.kernel, found.input_map, inner, noise_variance, own_log):
            if isinstance(last, Components):
                densities[fold] = last.log_density(X[rows[fold]])
            else:
                yield number
    yield FOLDS
    yield np.sort(densities)


def _learned(
    X: Array, rows: Indices, kernel: Covariance, input_map: InputMap, K: Array, noise_variance: float, fit_log: FitLog
) -> Iterator[Array | Components]:
    """Weights (n,) of `rows` (n,) with inner products K (n, n), step by step, then the components."""
    w, place = np.zeros(len(rows)), fit_log.place
    for now in weights(K, noise_variance, fit_log.recorded()):
        fit_log.record(place, now)
        w = now[:-1]
        yield w
    inside = np.flatnonzero(w)
    kept, evidence = rows[inside], likelihood_gain(K, K, w, noise_variance, len(K))
    yield Components(kernel, input_map, X[kept], kept, w[inside], noise_variance, evidence)


def drawn(X: Array, seed: int = 0) -> Indices:
    """The training rows; raises DataError unless X is (N, d), finite and of at least two rows."""
    if X.ndim != 2 or len(X) < 2 or not np.isfinite(X).all():
        raise DataError(f"expected at least two rows (N, d) of finite numbers, got shape {X.shape}")
    return subset(X, np.zeros(len(X)), MAX_ROWS, seed)


def typical_width(X: Array, seed: int = 0) -> float:
    """The median distance between two training rows of X (N, d) that differ: a width that depends on no target.

    Raises DataError where none differ.
    """
    some = X[drawn(X, seed)]
    squares = squared_distances(some, some)[np.triu_indices(len(some), 1)]
    apart = squares[squares > 0.0]
    if not len(apart):
        raise DataError("expected rows that differ: they are all alike")
    return float(np.sqrt(np.median(apart)))


def _left(K: Array, explained: float) -> float:
    """The variance along the first principal axis of the images that is not needed to explain the share."""
    variances = np.maximum(np.linalg.eigvalsh(K)[::-1], 0.0) / len(K)
    needed = int(np.searchsorted(np.cumsum(variances), explained * variances.sum())) + 1
    if needed >= len(variances):
        raise UnfitWidthError(f"expected fewer components than rows to explain {explained:g}, got all {len(variances)}")
    if variances[needed] <= ROUNDING * variances[0]:
        raise UnfitWidthError("expected rows that few components don't explain whole: they are all alike by this width")
    return float(variances[needed])
