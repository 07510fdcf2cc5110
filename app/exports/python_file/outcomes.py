"""Further library functions of generated files: predictions from encoded rows, by the kind of likelihood."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from app.exports.python_file.pieces import row_sums
from relevance_bayes.core.types import Array

# The weights' posterior


def left_of_process(P: Array, lower: Array) -> Array:
    """Return 1 - |L^-1 k|^2: the share of a process's variance that its functions P do not explain."""
    reached = np.asarray(np.linalg.solve(lower, P.T), float)
    return np.maximum(1.0 - row_sums(reached.T**2), 0.0)


def left_of_new(P: Array, p: Array, whitened: Array, reached: Array, precision: Array | float, prior: float) -> Array:
    """Return the share of the variance of a new function, centred on a row, that the training rows leave."""
    towards = (p * precision) @ reached
    e = 1.0 - row_sums((P @ whitened) * towards)
    known = row_sums(p * p * precision) - row_sums(towards**2)
    return np.asarray(e**2 / (1.0 + prior * np.maximum(known, 0.0)))


# Predictions by the kind of likelihood


def product(members: Sequence[tuple[Array, ...]], powers: Sequence[float]) -> list[Array]:
    """Return the product of Gaussian densities to these powers: its mean, the parts of its variance, and the support.

    Members have a mean, three parts of a variance, and a support, each for all rows.
    """
    found = np.array(members)
    variances = found[:, 1:4].sum(axis=1)
    precisions = np.asarray(powers)[:, None] / variances
    variance = 1.0 / precisions.sum(axis=0)
    shares = precisions * variance
    noise, weights, residual = (shares * variance / variances * found[:, part] for part in (1, 2, 3))
    mean, support = shares * found[:, 0], shares * found[:, 4]
    return [part.sum(axis=0) for part in (mean, noise, weights, residual, support)]


def in_units(
    mean: Array, noise: Array, weights: Array, residual: Array, shift: float, scale: float
) -> dict[str, Array]:
    """Return mean and variance of a number, and the variance's three parts."""
    return {
        "mean": mean * scale + shift,
        "variance": (noise + weights + residual) * scale * scale,
        "variance_noise": noise * scale * scale,
        "variance_weights": weights * scale * scale,
        "variance_residual": residual * scale * scale,
    }


def between(lower: Array, upper: Array, shift: float, scale: float) -> dict[str, Array]:
    """Return the bounds of a new observation with probability 0.95."""
    return {"lower": lower * scale + shift, "upper": upper * scale + shift}


def of_moments(
    moments: tuple[Array, ...], weights: Array, residual: Array, shift: float, scale: float
) -> dict[str, Array]:
    """Return mean and variance of a number; the variance due to the function is divided as its own variance is."""
    mean, noise, function = moments
    v = weights + residual
    share = np.divide(residual, v, out=np.zeros_like(v), where=v > 0.0)
    return in_units(mean, noise, (1.0 - share) * function, share * function, shift, scale)


def real(
    mean: Array, noise: Array, weights: Array, residual: Array, z: float, shift: float, scale: float
) -> dict[str, Array]:
    """Return the prediction under Gaussian noise, with the interval of z sds."""
    reach = z * np.sqrt(noise + weights + residual)
    reported = in_units(mean, noise, weights, residual, shift, scale)
    return reported | between(mean - reach, mean + reach, shift, scale)


def hurdle_ends(zero: Array, mean: Array, variance: Array, freedom: float | None) -> list[Array]:
    """Return the bounds of a number that is 0 with the probability `zero` and log-normal, or log-t, else."""
    ends = []
    for level in (0.025, 0.975):
        below = np.maximum(level - zero, 0.0) / (1.0 - zero)
        above = np.minimum((1.0 - level) / (1.0 - zero), 1.0)
        tails = np.maximum(np.minimum(below, above), 1e-30)
        z = np.array([quantile_above(tail, freedom) for tail in tails.tolist()])
        logs = mean + np.where(below <= above, -z, z) * np.sqrt(variance)
        ends.append(np.where(zero >= level, 0.0, np.exp(np.clip(logs, -700.0, 700.0))))
    return ends


def quantile_above(tail: float, freedom: float | None) -> float:
    """Return x of P(T > x) = tail, at most 1/2, of the normal distribution or Student's t: Newton in log x."""
    x = math.sqrt(-2.0 * math.log(2.0 * tail)) if tail < 0.5 else 0.0
    for _ in range(100 if x > 0.0 else 0):
        share = share_above_number(x, freedom)
        log_density = -0.5 * x * x - 0.5 * math.log(2.0 * math.pi)
        if freedom is not None:
            log_density = math.lgamma(0.5 * (freedom + 1.0)) - math.lgamma(0.5 * freedom)
            log_density -= 0.5 * math.log(freedom * math.pi) + 0.5 * (freedom + 1.0) * math.log1p(x * x / freedom)
        step = math.log(share / tail) * share / (x * math.exp(log_density))
        x *= math.exp(step)
        if abs(step) < 1e-15:
            break
    return x


def share_above_number(x: float, freedom: float | None) -> float:
    """Return P(T > x), x >= 0, of the normal distribution, or of Student's t by an incomplete beta function."""
    if freedom is None:
        return 0.5 * math.erfc(x / math.sqrt(2.0))
    y, total = x * x, freedom + x * x
    if y >= 0.1 * total or x > 3.0:
        return 0.5 * incomplete_beta(freedom / total, 0.5 * freedom, 0.5)
    return 0.5 - 0.5 * incomplete_beta(y / total, 0.5, 0.5 * freedom)


def incomplete_beta(y: float, a: float, b: float) -> float:
    """I_y(a, b) = y^a (1 - y)^b / (a B(a, b)) sum_n prod_(k < n) (a + b + k)/(a + 1 + k) y^n, of positive terms."""
    term, total, n = 1.0, 1.0, 0
    while term > 1e-17 * total:
        term *= (a + b + n) / (a + 1.0 + n) * y
        total, n = total + term, n + 1
    logs = a * math.log(y) + b * math.log1p(-y) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return math.exp(logs) * total / a


def ndtr(z: Array) -> Array:
    """Return the standard normal distribution function at z."""
    return np.asarray(0.5 * np.vectorize(math.erfc, otypes=[float])(-z / math.sqrt(2.0)))


def expit(x: Array) -> Array:
    """Return 1 / (1 + e^-x)."""
    e = np.exp(-np.abs(x))
    return np.asarray(np.where(x < 0.0, e, 1.0) / (1.0 + e))


def columns_of(values: Array) -> Array:
    """Return values (N,) or (N, K) as (N, K)."""
    return values if values.ndim > 1 else values[:, None]


def sound_rows(reported: Mapping[str, Array], sound: Array) -> dict[str, Array]:
    """Return the predictions, NaN where a row can't be predicted."""
    return {
        name: np.where(sound if values.ndim == 1 else sound[:, None], values, math.nan)
        for name, values in reported.items()
    }
