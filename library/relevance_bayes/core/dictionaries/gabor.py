"""Gabor wavelets: waves under a Gaussian, over one input or two."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from relevance_bayes.core.dictionaries.shapes import Shape
from relevance_bayes.core.errors import DataError
from relevance_bayes.core.types import Array, Indices

MIN_VALUES = 4
"""Distinct values that the narrowest wavelet spans."""

MAX_OCTAVES = 8

STEP = 0.5
"""Distance of two neighbours of one scale, in spans."""


@dataclass(frozen=True)
class Gabor:
    """exp(-pi |x - c|^2 / s^2) cos(2 pi (f'(x - c) - phase)) over one input, or over two.

    Spans s are 1/2, 1/4, ... of the range, `octaves` of them; centres c are s/2 apart; |f| = h/s with h = 0 ...
    `waves`, in `directions` of the plane where there are two inputs; phases are 0 and 1/4. By default the
    narrowest span holds four of the distinct values, and there are 8 octaves at most.
    """

    __pydantic_config__ = {"extra": "forbid"}

    octaves: int | None = field(default=None, metadata={"ge": 1, "le": 12})
    waves: int = field(default=2, metadata={"ge": 0, "le": 64})
    directions: int = field(default=4, metadata={"ge": 1, "le": 16})
    type: Literal["gabor"] = "gabor"

    def functions(self, X: Array) -> "GaborFunctions":
        """Over the columns of X (N, 1) or (N, 2); raises DataError for another number of them."""
        if X.shape[1] not in {1, 2}:
            raise DataError(f"expected one input or two for Gabor wavelets, got {X.shape[1]}; name a group of them")
        lowest, ranges = X.min(axis=0), np.ptp(X, axis=0)
        reach = float(ranges.max())
        if reach == 0.0:
            return GaborFunctions(np.empty((0, X.shape[1])), np.empty(0), np.empty((0, X.shape[1])), np.empty(0))
        values = max(len(np.unique(column)) for column in X.T)
        octaves = self.octaves or min(max(int(np.log2(values / MIN_VALUES)), 1), MAX_OCTAVES)
        waves = self._waves(X.shape[1])
        centres, spans, frequencies, phases = [], [], [], []
        for span in (reach / 2.0**octave for octave in range(1, octaves + 1)):
            axes = [low + np.linspace(0.0, wide, _steps(wide, span)) for low, wide in zip(lowest, ranges, strict=True)]
            grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, X.shape[1])
            of = np.tile(np.arange(len(waves)), len(grid))
            centres.append(np.repeat(grid, len(waves), axis=0))
            spans.append(np.full(len(of), span))
            frequencies.append(waves[of, :-1] / span)
            phases.append(waves[of, -1])
        return GaborFunctions(
            np.concatenate(centres), np.concatenate(spans), np.concatenate(frequencies), np.concatenate(phases)
        )

    def _waves(self, inputs: int) -> Array:
        """Frequencies in cycles per span and the phase, (number, inputs + 1)."""
        turns = np.pi * np.arange(self.directions) / self.directions
        ways = np.ones((1, 1)) if inputs == 1 else np.column_stack([np.cos(turns), np.sin(turns)])
        flat = [np.zeros((1, inputs + 1))]
        waving = [
            np.column_stack([h * ways, np.full(len(ways), phase)])
            for h in range(1, self.waves + 1)
            for phase in (0.0, 0.25)
        ]
        return np.concatenate([*flat, *waving])


def _steps(wide: float, span: float) -> int:
    """The number of centres that cover a range at most STEP spans apart."""
    return int(np.ceil(wide / (STEP * span) - 1e-9)) + 1


@dataclass(frozen=True, eq=False)
class GaborFunctions:
    """`centres` (M, d) and `spans` (M,), `frequencies` (M, d) in cycles per unit, `phases` (M,) in cycles."""

    centres: Array
    spans: Array
    frequencies: Array
    phases: Array

    @property
    def size(self) -> int:
        """M."""
        return len(self.spans)

    def __call__(self, X: Array, chosen: Indices) -> Array:
        """The chosen wavelets at X (N, d): (N, number chosen)."""
        square, turns = 0.0, -self.phases[chosen]
        for x, c, f in zip(X.T, self.centres[chosen].T, self.frequencies[chosen].T, strict=True):
            apart = x[:, None] - c
            square, turns = square + np.square(apart / self.spans[chosen]), turns + apart * f
        return np.asarray(np.exp(-np.pi * square) * np.cos(2.0 * np.pi * turns))

    def take(self, chosen: Indices) -> "GaborFunctions":
        """Only the chosen wavelets, in that order."""
        return GaborFunctions(self.centres[chosen], self.spans[chosen], self.frequencies[chosen], self.phases[chosen])

    def shape(self, number: int) -> Shape:
        """Centre, span, frequency and phase of one wavelet."""
        return Shape(
            "wavelet",
            tuple(range(self.centres.shape[1])),
            location=tuple(self.centres[number].tolist()),
            scale=float(self.spans[number]),
            frequency=tuple(self.frequencies[number].tolist()),
            phase=float(self.phases[number]),
        )
