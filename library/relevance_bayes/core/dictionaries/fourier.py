"""Cosines and sines, for periodic signals."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from relevance_bayes.core.dictionaries.shapes import Shape
from relevance_bayes.core.types import Array, Indices

MAX_HARMONICS = 512
NONE = np.empty(0)


@dataclass(frozen=True)
class Fourier:
    """cos(2 pi h u) and sin(2 pi h u) of each input, u = (x - least) / period, h = 1 ... `harmonics`.

    The period is the inputs' range and one mean distance between their values more, so that on a regular grid the
    functions are those of the discrete Fourier transform. By default there are as many harmonics as half of
    the distinct values determine, at most 512.
    """

    __pydantic_config__ = {"extra": "forbid"}

    harmonics: int | None = field(default=None, metadata={"ge": 1, "le": 10_000})
    type: Literal["fourier"] = "fourier"

    def functions(self, X: Array) -> "FourierFunctions":
        """The waves of each column of X (N, d) that is not constant."""
        inputs, origins, frequencies, phases = [np.empty(0, np.intp)], [NONE], [NONE], [NONE]
        for k, column in enumerate(X.T):
            values = np.unique(column)
            if len(values) < 2:
                continue
            period = (values[-1] - values[0]) * (1.0 + 1.0 / (len(values) - 1))
            h = np.arange(1, (self.harmonics or min(len(values) // 2, MAX_HARMONICS)) + 1)
            inputs.append(np.full(2 * len(h), k, np.intp))
            origins.append(np.full(2 * len(h), values[0]))
            frequencies.append(np.repeat(h / period, 2))
            phases.append(np.tile([0.0, 0.25], len(h)))
        return FourierFunctions(
            np.concatenate(inputs), np.concatenate(origins), np.concatenate(frequencies), np.concatenate(phases)
        )


@dataclass(frozen=True, eq=False)
class FourierFunctions:
    """cos(2 pi (f (x_k - origin) - phase)): all (M,), f in cycles per unit, the phase in cycles (1/4: a sine)."""

    inputs: Indices
    origins: Array
    frequencies: Array
    phases: Array

    @property
    def size(self) -> int:
        """M."""
        return len(self.inputs)

    def __call__(self, X: Array, chosen: Indices) -> Array:
        """The chosen waves at X (N, d): (N, number chosen)."""
        turns = (X[:, self.inputs[chosen]] - self.origins[chosen]) * self.frequencies[chosen] - self.phases[chosen]
        # Whole periods are subtracted first, so that the cosine of a high harmonic is accurate.
        return np.asarray(np.cos(2.0 * np.pi * (turns - np.round(turns))))

    def take(self, chosen: Indices) -> "FourierFunctions":
        """Only the chosen waves, in that order."""
        return FourierFunctions(
            self.inputs[chosen], self.origins[chosen], self.frequencies[chosen], self.phases[chosen]
        )

    def shape(self, number: int) -> Shape:
        """Frequency and phase of one wave, located at the origin of its phase."""
        return Shape(
            "wave",
            (int(self.inputs[number]),),
            location=(float(self.origins[number]),),
            frequency=(float(self.frequencies[number]),),
            phase=float(self.phases[number]),
        )
