"""The model that all applications answer with, as plain arrays; numpy alone, for environments that have no more."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]

MODEL = "RELEVANCE_BENCH_MODEL"
"""The variable of the environment that names the file of the model."""

SIGMAS = 1.959963984540054
"""Of an interval that holds 95 % of a normal distribution."""


@dataclass(frozen=True, eq=False)
class PlainModel:
    """A process on Gaussian kernels and a constant, in arrays that numpy alone predicts with.

    Inputs become (x - shift) / scale; `centres` (M, d) are in widths; `mean` (R,) and `lower` (R, R) of the weights;
    `whitening` (M, M) takes the kernels' columns to independent ones. Answers are in the target's units.
    """

    shift: Array
    scale: Array
    width: Array
    centres: Array
    mean: Array
    lower: Array
    whitening: Array
    numbers: Array

    @classmethod
    def read(cls) -> Self:
        """As `write` has written it to the file that the environment names."""
        with np.load(os.environ[MODEL], allow_pickle=False) as stored:
            return cls(**{name: np.asarray(stored[name], np.float64) for name in stored.files})

    def write(self, path: Path) -> None:
        """For another process."""
        np.savez(path, **vars(self))

    def predict(self, X: Array) -> tuple[Array, Array, Array, Array, Array, Array, Array]:
        """Mean, variance and its three parts, and both ends of the interval of N rows X (N, d), each (N,)."""
        noise, signal_variance, shift, scale = self.numbers.tolist()
        encoded = (X - self.shift) / self.scale
        U, Z = encoded / self.width, self.centres
        squares = np.square(U).sum(axis=1)[:, None] - 2.0 * (U @ Z.T) + np.square(Z).sum(axis=1)
        kernels = np.exp(-np.maximum(squares, 0.0))
        columns = np.hstack([kernels, np.ones((len(X), 1))])
        mean = columns @ self.mean * scale + shift
        unit = scale * scale
        weights = np.square(columns @ self.lower).sum(axis=1) * unit
        residual = np.maximum(1.0 - np.square(kernels @ self.whitening).sum(axis=1), 0.0) * (signal_variance * unit)
        scatter = np.full(len(X), noise * unit)
        total = scatter + weights + residual
        reach = SIGMAS * np.sqrt(total)
        return mean, total, scatter, weights, residual, mean - reach, mean + reach
