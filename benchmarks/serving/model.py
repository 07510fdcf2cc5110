"""The model that all applications answer with, as plain arrays; asked with the same bodies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from app.domain.encoding import EncodedNumber
from app.services.answering import ServedVersion, SupervisedAnswering
from app.sparse_bayes.basis import ConstantFunction, KernelFunctions
from app.sparse_bayes.types import Array

INPUTS = ("x1", "x2", "x3", "x4")
OUTPUTS = ("mean", "variance", "interval")
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
    def of(cls, served: ServedVersion) -> Self:
        """Raises TypeError for a version that is not of this kind."""
        known = served.answering
        if not isinstance(known, SupervisedAnswering) or known.ready.whitening is None:
            raise TypeError("expected a regression under a process")
        encoding, model = known.predictor.encoding, known.predictor.model
        match model.functions:
            case (KernelFunctions() as kernels, ConstantFunction()):
                pass
            case _:
                raise TypeError("expected kernels and a constant")
        columns = [column for column in encoding.inputs if isinstance(column, EncodedNumber)]
        if tuple(column.name for column in columns) != INPUTS:
            raise TypeError(f"expected the inputs {', '.join(INPUTS)}")
        target, noise_sd, amplitude = encoding.target, model.noise_sd, model.amplitude
        assert noise_sd is not None
        assert amplitude is not None
        return cls(
            shift=np.array([column.shift for column in columns]),
            scale=np.array([column.scale for column in columns]),
            width=kernels.input_map.widths,
            centres=kernels.input_map(kernels.centres),
            mean=model.mean,
            lower=known.ready.lower,
            whitening=np.asarray(np.linalg.inv(known.ready.whitening.lower).T, np.float64),
            numbers=np.array([noise_sd**2, amplitude, target.shift, target.scale]),
        )

    @classmethod
    def read(cls, path: Path) -> Self:
        """As `write` has written it."""
        with np.load(path, allow_pickle=False) as stored:
            return cls(**{name: np.asarray(stored[name], np.float64) for name in stored.files})

    def write(self, path: Path) -> None:
        """For another process."""
        np.savez(path, **vars(self))

    def answer(self, X: Array) -> tuple[Array, Array, Array, Array, Array, Array, Array]:
        """Mean, variance and its three parts, and both ends of the interval of N rows X (N, d), each (N,)."""
        noise, amplitude, shift, scale = self.numbers.tolist()
        encoded = (X - self.shift) / self.scale
        U, Z = encoded / self.width, self.centres
        squares = np.square(U).sum(axis=1)[:, None] - 2.0 * (U @ Z.T) + np.square(Z).sum(axis=1)
        kernels = np.exp(-np.maximum(squares, 0.0))
        columns = np.hstack([kernels, np.ones((len(X), 1))])
        mean = columns @ self.mean * scale + shift
        unit = scale * scale
        weights = np.square(columns @ self.lower).sum(axis=1) * unit
        beyond = np.maximum(1.0 - np.square(kernels @ self.whitening).sum(axis=1), 0.0) * (amplitude * unit)
        scatter = np.full(len(X), noise * unit)
        total = scatter + weights + beyond
        reach = SIGMAS * np.sqrt(total)
        return mean, total, scatter, weights, beyond, mean - reach, mean + reach


def table(X: Array) -> Sequence[Mapping[str, float]]:
    """Rows of X (N, d) as JSON has them."""
    return [dict(zip(INPUTS, row, strict=True)) for row in X.tolist()]


def points(number: int) -> Array:
    """Points of the unit cube to predict at, (N, d)."""
    return np.random.default_rng(2027).uniform(0.0, 1.0, (number, len(INPUTS)))
