"""The library of generated files, whose functions are written here to be checked and tested like any code.

A file contains the source of those that it needs, so they use only numpy, the standard library and each other.
"""

import math
from collections.abc import Sequence

import numpy as np

from relevance_bayes.core.types import Array, Indices

# Raw columns to the matrix of encoded inputs


def number(
    values: Sequence[float | None],
    shift: float,
    scale: float,
    fill: float | None,
    indicator: bool,
    unit: float | None = None,
) -> Array:
    """Return (value - shift) / scale, with `unit` of sign(value) log(1 + |value|/unit), and, with `indicator`, a column
    that is 1 where the value is missing."""
    raw = np.array([math.nan if value is None else value for value in values], float)
    missing = np.isnan(raw)
    filled = raw if fill is None else np.where(missing, fill, raw)
    filled = filled if unit is None else np.sign(filled) * np.log1p(np.abs(filled) / unit)
    scaled = (filled - shift) / scale
    scaled = np.where(np.abs(scaled) <= 1e75, scaled, math.nan)
    return np.column_stack([scaled, missing] if indicator else [scaled])


def date(
    values: Sequence[float | None],
    periods: Sequence[tuple[float, bool]],
    shift: float,
    scale: float,
    fill: float | None,
    indicator: bool,
) -> Array:
    """Return the columns of a number, and a sine and a cosine of each period, in seconds, some by whole days."""
    columns = number(values, shift, scale, fill, indicator)
    raw = np.array([math.nan if value is None else value for value in values], float)
    parts = [columns[:, :1]]
    for seconds, by_days in periods:
        begun = np.floor(raw / 86400.0) * 86400.0 - 345600.0 if by_days else raw
        angle = 2.0 * math.pi * np.mod(begun, seconds) / seconds
        parts += [np.nan_to_num(part)[:, None] for part in (np.sin(angle), np.cos(angle))]
    return np.hstack([*parts, columns[:, 1:]])


def category(
    values: Sequence[str | None], known: tuple[str, ...], fill: tuple[float, ...] | None, indicator: bool
) -> Array:
    """Return an indicator column for each category and, with `indicator`, for missing values."""
    strange = [math.nan] * len(known)
    codes = {label: np.eye(len(known))[place].tolist() for place, label in enumerate(known)}
    gap = strange if fill is None else list(fill)
    reported = np.array([gap if value is None else codes.get(value, strange) for value in values], float)
    reported = reported.reshape(len(values), len(known))
    return np.column_stack([reported, [float(value is None) for value in values]]) if indicator else reported


def effects(
    values: Sequence[str | None],
    known: tuple[str, ...],
    each: tuple[tuple[float, ...], ...],
    fill: float | None,
    indicator: bool,
) -> Array:
    """Return a column for each output, the effect of each text, 0 of unknown ones; with `indicator` one of gaps."""
    table = {text: [one[place] for one in each] for place, text in enumerate(known)}
    gap = [math.nan if fill is None else fill] * len(each)
    others = [0.0] * len(each)
    reported = np.array([gap if value is None else table.get(value, others) for value in values], float)
    reported = reported.reshape(len(values), len(each))
    return np.column_stack([reported, [float(value is None) for value in values]]) if indicator else reported


# Functions of the encoded inputs


def bent(X: Array, widths: Array, skew: Array | None, tail: Array | None) -> Array:
    """w(x) / width, w(x) = 2 sinh(p/2) cosh(p/2 - a) / (b cosh a), p = b asinh x, a the skew and b = exp(tail)."""
    if skew is None and tail is None:
        return X / widths
    a = np.zeros(X.shape[1]) if skew is None else skew
    b = np.ones(X.shape[1]) if tail is None else np.exp(tail)
    half = 0.5 * b * np.arcsinh(X)
    return 2.0 * np.sinh(half) * np.cosh(half - a) / (b * np.cosh(a)) / widths


def squares(U: Array, Z: Array) -> Array:
    """|u - z|^2 of each row of U with each of Z."""
    total = np.zeros((len(U), len(Z)))
    for u, z in zip(U.T, Z.T, strict=True):
        total += np.subtract.outer(u, z) ** 2
    return total


def bias(X: Array) -> Array:
    """Return a column of 1."""
    return np.ones((len(X), 1))


def steps(X: Array, inputs: Indices, places: Array) -> Array:
    """Return 1 where an input reaches a position."""
    return (X[:, inputs] >= places).astype(float)


def waves(X: Array, inputs: Indices, origins: Array, frequencies: Array, phases: Array) -> Array:
    """Return cos(2 pi (f (x - origin) - phase)), after whole turns are subtracted."""
    turns = (X[:, inputs] - origins) * frequencies - phases
    return np.cos(2.0 * np.pi * (turns - np.round(turns)))


def b_splines(X: Array, degree: int, inputs: Indices, places: Array, spans: Array) -> Array:
    """sum_k (-1)^k C(degree + 1, k) (r - k)_+^degree / degree!, r = (degree + 1)/2 - |x - place|/span."""
    reach = 0.5 * (degree + 1) - np.abs((X[:, inputs] - places) / spans)
    terms = range((degree + 1) // 2 + 1)
    total = sum((-1.0) ** k * math.comb(degree + 1, k) * np.maximum(reach - k, 0.0) ** degree for k in terms)
    return np.asarray(total / math.factorial(degree))


def wavelets(X: Array, centres: Array, spans: Array, frequencies: Array, phases: Array) -> Array:
    """exp(-pi |x - c|^2 / s^2) cos(2 pi (f'(x - c) - phase))."""
    square, turns = np.zeros((len(X), len(spans))), np.zeros((len(X), len(spans)))
    for x, c, f in zip(X.T, centres.T, frequencies.T, strict=True):
        apart = x[:, None] - c
        square, turns = square + (apart / spans) ** 2, turns + apart * f
    return np.asarray(np.exp(-np.pi * square) * np.cos(2.0 * np.pi * (turns - phases)))


def gaussians(X: Array, centres: Array, widths: Array) -> Array:
    """Return exp(-sum_k ((x_k - z_k) / r_k)^2), each with a width for each input."""
    total = np.zeros((len(X), len(centres)))
    for x, z, r in zip(X.T, centres.T, widths.T, strict=True):
        total += (np.subtract.outer(x, z) / r) ** 2
    return np.exp(-total)


def row_sums(products: Array) -> Array:
    """Return the sum of each row."""
    return np.asarray(products.sum(axis=1))


# Components


def missed(projected: Array) -> Array:
    """Return 1 - |p|^2: the share of a row's image that is not in its components p."""
    return np.maximum(1.0 - row_sums(projected**2), 0.0)


def log_densities(projected: Array, variances: Array, noise: float) -> Array:
    """-1/2 sum_j [p_j^2/(v_j + noise) + log(1 + v_j/noise)] - (1 - |p|^2)/(2 noise)."""
    along = projected**2 @ (1.0 / (variances + noise))
    return np.asarray(-0.5 * (along + np.log1p(variances / noise).sum() + missed(projected) / noise))


def share_above(density: Array, usual: Array) -> Array:
    """Return the share of the ascending training densities above a row's."""
    return np.asarray((len(usual) - np.searchsorted(usual, density, side="right")) / len(usual))
