"""Draws of missing inputs given the others, by the rows of a table as donors.

The missing columns b of a row with the observed columns x are those of one of R donors, the rows (a_r, b_r): predictive
mean matching [LITTLE1988]. Ridge regressions of b on x, by a linear kernel or by one with a Gaussian beside it, as
leave-one-out errors prefer, give predictions m(x), m_r of each donor from all others, and the mean squares v of the
errors e_r = b_r - m_r. The donor r has the weight

    w_r ~ exp(-s sum_j (m_j(x) - m_rj)^2/(2 v_j)),

s = 1, or less where the weights would be those of fewer than MIN_DONORS rows, n = 1/sum w_r^2. Where nothing is learned
of b from x all weights are equal. A column of numbers has the value m(x) + e_r, any other one b_r, which occurred.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from relevance_bayes.core.types import Array, Mask

MIN_DONORS = 8.0
"""The least effective number of donors of a row."""

RIDGES = np.array([1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0])
"""The penalties that are compared, in the units of a kernel matrix with a diagonal of about 1."""

WIDTHS = (None, 1.0, 2.0)
"""The widths of the Gaussian, for inputs divided by the root of their number; None without one."""

LINEAR = 0.3
"""The weight of the linear kernel beside a Gaussian."""

MIN_IMPROVEMENT = 0.98
"""The ratio of mean square errors from which on another regression is preferred to those before it."""

MIN_ERROR = 1e-8
"""The least mean square error, as a part of the variance."""

MARGIN = 0.1
"""The part of a column's range by which a number may be outside it."""

MIN_VALUES = 12
"""The least number of different values of a column of numbers; of fewer, values are those that occurred ..."""

MAX_ERROR = 0.25
"""... unless the mean square error of its regression is at most this part of the variance."""

BISECTIONS = 30


@dataclass(frozen=True, eq=False)
class Donors:
    """R donors with the `observed` columns (R, o), scaled by `shift` and `scale` (o,), and the `missing` ones (R, m).

    The columns of `shifted` (m,) are those of numbers, whose values may lie between those that occurred; `fits` are the
    regressions of the missing columns, none where no column is observed.
    """

    observed: Array
    shift: Array
    scale: Array
    missing: Array
    shifted: Mask
    fits: "tuple[RidgeFit, ...]"

    @classmethod
    def of(cls, observed: Array, missing: Array, numbers: Mask) -> Self:
        """Return the donors with these columns, of which `numbers` (m,) are numbers."""
        shift = observed.mean(axis=0)
        sd = observed.std(axis=0)
        scale = np.where(sd > 0.0, sd, 1.0)
        scaled = (observed - shift) / scale
        fits = tuple(_ridge_fits(scaled, missing)) if observed.shape[1] else ()
        several = np.array([len(np.unique(column)) >= MIN_VALUES for column in missing.T], np.bool_)
        errors = np.array([fit.error for fit in fits]) if fits else np.full(missing.shape[1], np.inf)
        is_shifted = numbers & (several | (errors <= MAX_ERROR * missing.var(axis=0)))
        return cls(scaled, shift, scale, missing, is_shifted, fits)

    def at(self, observed: Array) -> tuple[Array, Array]:
        """Return the values (N, R, m) of the missing columns of N rows, and their weights (N, R), which add to 1."""
        n, donors = len(observed), len(self.missing)
        values = np.repeat(self.missing[None], n, axis=0)
        if not self.fits:
            return values, np.full((n, donors), 1.0 / donors)
        low, high = self.observed.min(axis=0), self.observed.max(axis=0)
        x = np.clip((observed - self.shift) / self.scale, low, high)
        distances = np.zeros((n, donors))
        for place, fit in enumerate(self.fits):
            moved = fit.predict(x, self.observed)[:, None] - fit.left_out
            distances += np.square(moved) / fit.error
            if self.shifted[place]:
                column = self.missing[:, place]
                margin = MARGIN * np.ptp(column)
                values[:, :, place] = np.clip(column + moved, column.min() - margin, column.max() + margin)
        return values, _weights(distances)


@dataclass(frozen=True, eq=False)
class RidgeFit:
    """The ridge regression of one column: `dual` (R,) coefficients of a kernel, and its predictions `left_out` (R,) of
    each row from the others, with the mean square `error`."""

    width: float | None
    dual: Array
    left_out: Array
    error: float

    def predict(self, x: Array, donors: Array) -> Array:
        """Return predictions (N,) at x (N, o)."""
        return np.asarray(_kernel(x, donors, self.width) @ self.dual)


def _ridge_fits(observed: Array, missing: Array) -> list[RidgeFit]:
    """Return the regression of each of the missing columns with the least leave-one-out error."""
    best: list[RidgeFit | None] = [None] * missing.shape[1]
    variances = missing.var(axis=0)
    min_error = np.where(variances > 0.0, MIN_ERROR * variances, np.inf)  # a constant has no part in distances
    for width in WIDTHS:
        values, vectors = np.linalg.eigh(_kernel(observed, observed, width))
        values = np.maximum(values, 0.0)
        rotated = vectors.T @ missing
        for ridge in RIDGES.tolist():
            shares = values / (values + ridge)
            leverage = np.square(vectors) @ shares
            residuals = missing - vectors @ (shares[:, None] * rotated)
            errors = residuals / (1.0 - leverage)[:, None]
            squares = np.maximum(np.square(errors).mean(axis=0), min_error)
            for place, (square, before) in enumerate(zip(squares.tolist(), best, strict=True)):
                if before is None or square < MIN_IMPROVEMENT * before.error:
                    dual = vectors @ (rotated[:, place] / (values + ridge))
                    best[place] = RidgeFit(width, dual, missing[:, place] - errors[:, place], square)
    return [fit for fit in best if fit is not None]


def _kernel(x: Array, z: Array, width: float | None) -> Array:
    """Return the kernel (N, M) of x (N, o) and z (M, o): a constant, a linear part, and with a width a Gaussian."""
    products = x @ z.T / x.shape[1]
    if width is None:
        return np.asarray(1.0 + products)
    squares = (np.square(x).sum(axis=1)[:, None] + np.square(z).sum(axis=1)) / x.shape[1] - 2.0 * products
    return np.asarray(1.0 + LINEAR * products + np.exp(-0.5 * np.maximum(squares, 0.0) / width**2))


def _weights(distances: Array) -> Array:
    """Return weights (N, R) ~ exp(-s d/2) of squared distances d (N, R), with the greatest s <= 1 by bisection at which
    they are those of MIN_DONORS donors at least."""
    distances = distances - distances.min(axis=1, keepdims=True)
    low, high = np.zeros(len(distances)), np.ones(len(distances))
    found = _normalised(distances, high)
    few = _effective(found) < min(MIN_DONORS, distances.shape[1])
    if few.any():
        low, high, some = low[few], high[few], distances[few]
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            enough = _effective(_normalised(some, middle)) >= min(MIN_DONORS, distances.shape[1])
            low, high = np.where(enough, middle, low), np.where(enough, high, middle)
        found[few] = _normalised(some, low)
    return found


def _normalised(distances: Array, power: Array) -> Array:
    weights = np.exp(-0.5 * power[:, None] * distances)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _effective(weights: Array) -> Array:
    """Return the effective number of rows (N,) of weights (N, R)."""
    return np.asarray(1.0 / np.square(weights).sum(axis=1))
