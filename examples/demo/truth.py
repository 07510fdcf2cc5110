"""The data: three published generators with known truths, and CSV files."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

NOISE_SD = 0.1
MAX_X = 10.0

CENTRES = np.array([[[-0.7, 0.3], [0.3, 0.3]], [[-0.3, 0.7], [0.4, 0.7]]])
"""(class, Gaussian, coordinate): Ripley's mixture, both classes and both Gaussians of each equally likely."""

VARIANCE = 0.03

INPUTS = 10
"""Columns of Friedman's table, of which its function uses the first five."""

FRIEDMAN_NOISE_SD = 1.0


@dataclass(frozen=True, eq=False)
class Curve:
    """x (N,) and noisy y (N,)."""

    x: Array
    y: Array


@dataclass(frozen=True, eq=False)
class Points:
    """positions (N, 2), and labels (N,), 0 or 1."""

    positions: Array
    labels: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Table:
    """inputs (N, 10) and noisy y (N,)."""

    inputs: Array
    y: Array


def sinc(x: Array) -> Array:
    """sin(x)/x, 1 at 0."""
    return np.sinc(x / np.pi)


def draw_curve(count: int, *, seed: int) -> Curve:
    """x uniform in [-10, 10], y = sinc(x) + N(0, 0.1^2)."""
    random = np.random.default_rng(seed)
    x = np.sort(random.uniform(-MAX_X, MAX_X, count))
    return Curve(x, sinc(x) + random.normal(0.0, NOISE_SD, count))


def draw_points(count: int, *, seed: int) -> Points:
    """Half of the points of each class, in random order."""
    random = np.random.default_rng(seed)
    labels = random.permutation(np.arange(count) % 2)
    centres = CENTRES[labels, random.integers(0, 2, count)]
    return Points(centres + random.normal(0.0, np.sqrt(VARIANCE), (count, 2)), labels)


def friedman(inputs: Array) -> Array:
    """10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 at (N, 10): Friedman's first function (1991)."""
    x1, x2, x3, x4, x5 = inputs[:, :5].T
    value: Array = 10.0 * np.sin(np.pi * x1 * x2) + 20.0 * (x3 - 0.5) ** 2 + 10.0 * x4 + 5.0 * x5
    return value


def draw_table(count: int, *, seed: int) -> Table:
    """Ten inputs uniform in [0, 1], y = friedman(inputs) + N(0, 1)."""
    random = np.random.default_rng(seed)
    inputs = random.uniform(size=(count, INPUTS))
    return Table(inputs, friedman(inputs) + random.normal(0.0, FRIEDMAN_NOISE_SD, count))


def probability_of_one(positions: Array) -> Array:
    """The probability (N,) of class 1 at (N, 2), by Bayes' rule."""
    squares = ((positions[:, None, None, :] - CENTRES) ** 2).sum(axis=-1)
    densities = np.exp(-squares / (2 * VARIANCE)).sum(axis=-1)
    one: Array = densities[:, 1] / densities.sum(axis=1)
    return one


def write_csv(path: Path, columns: Mapping[str, Sequence[float]]) -> Path:
    """Write columns of one length to a file, under their names; return its path."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path
