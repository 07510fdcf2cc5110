"""Rows that components are learned from, rows like them, and rows that are new."""

from dataclasses import dataclass

import numpy as np

from relevance_bayes.core.folds import subset
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.kernels.hyperparameters import InputMap
from relevance_bayes.core.linalg import squared_distances
from relevance_bayes.core.types import Array

SEED = 2001
MOON_ROWS, MOON_SD, MOON_WIDTH = 400, 0.08, 0.5
DIGITS = 10


@dataclass(frozen=True, eq=False)
class Rows:
    """`learned` (N, d), `usual` and `new` ones; `width` is the kernel's r for all engines."""

    learned: Array
    usual: Array
    new: Array
    width: float

    def kernel(self, X: Array, Z: Array) -> Array:
        """k (N, M)."""
        maps = InputMap.isotropic(self.width)
        return Gaussian()(maps(X), maps(Z))


def moons(draw: int) -> Rows:
    """Two half circles with noise, and points that lie anywhere in a box around them, unless on a moon."""
    rng = np.random.default_rng((SEED, draw))
    learned, usual = _moons(MOON_ROWS, rng), _moons(MOON_ROWS, rng)
    anywhere = rng.uniform([-1.75, -1.25], [2.75, 1.75], (4 * MOON_ROWS, 2))
    apart = squared_distances(anywhere, _moons(2_000, np.random.default_rng(SEED), sd=0.0)).min(axis=1)
    return Rows(learned, usual, anywhere[apart > (3.0 * MOON_SD) ** 2][:MOON_ROWS], MOON_WIDTH)


def _moons(rows: int, rng: np.random.Generator, sd: float = MOON_SD) -> Array:
    angle, lower = rng.uniform(0.0, np.pi, rows), rng.integers(0, 2, rows)
    side = 1.0 - 2.0 * lower
    X = np.column_stack([side * np.cos(angle) + lower, side * np.sin(angle) + 0.5 * lower])
    return np.asarray(X + sd * rng.standard_normal((rows, 2)))


def digit(number: int) -> Rows:
    """Scikit-learn's hand-written digits: half the rows of one to learn from, the other half, and all others.

    The width is the median distance between training rows.
    """
    from sklearn.datasets import load_digits

    data = load_digits()
    X, labels = np.asarray(data.data, np.float64), np.asarray(data.target)
    same = X[labels == number]
    half = subset(same, np.zeros(len(same)), len(same) // 2, SEED)
    learned = same[half]
    apart = squared_distances(learned, learned)[np.triu_indices(len(learned), 1)]
    return Rows(learned, np.delete(same, half, axis=0), X[labels != number], float(np.sqrt(np.median(apart))))
