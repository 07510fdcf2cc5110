"""Dictionaries of functions that are not centred on rows: the choice, and its candidates for some rows.

The choice is a frozen dataclass whose `functions(X)` makes the candidates for the rows X (N, d). These are `size`
functions, called with X and the numbers of the requested ones; `take` keeps some, `shape` describes one.
"""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import scipy

from relevance_bayes.core.errors import DataError
from relevance_bayes.core.types import Array, Indices

__all__ = [
    "BSplines",
    "Dictionary",
    "DictionaryFunctions",
    "Fourier",
    "FourierFunctions",
    "Gabor",
    "GaborFunctions",
    "Shape",
    "SplineFunctions",
    "StepFunctions",
    "Steps",
]


@dataclass(frozen=True)
class Shape:
    """A function of the columns `inputs` of X; lengths are in their units.

    It is centred at `location`, one number for each of them, with the width `scale`; `frequency` is in cycles per unit
    of each, `phase` in cycles from 0 to 1. Members that a function does not have are empty or None.
    """

    kind: str
    inputs: tuple[int, ...]
    location: tuple[float, ...] = ()
    scale: float | None = None
    frequency: tuple[float, ...] = ()
    phase: float | None = None


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


MAX_LEVELS = 10


@dataclass(frozen=True)
class BSplines:
    """B((x_k - c) / h), B the centred B-spline of a `degree`, for each input k.

    On level j = 0 ... `levels` - 1 the range of the input is cut into 2^j pieces of length h, and there is one function
    for each whose support overlaps it: together they span all splines of that degree with those knots. By
    default the narrowest pieces hold two of the distinct values, and there are 10 levels at most.
    """

    __pydantic_config__ = {"extra": "forbid"}

    degree: int = field(default=3, metadata={"ge": 1, "le": 7})
    levels: int | None = field(default=None, metadata={"ge": 1, "le": 16})
    type: Literal["b_splines"] = "b_splines"

    def functions(self, X: Array) -> "SplineFunctions":
        """The splines of each column of X (N, d) that is not constant."""
        inputs, places, spans = [np.empty(0, np.intp)], [np.empty(0)], [np.empty(0)]
        for k, column in enumerate(X.T):
            values = np.unique(column)
            if len(values) < 2:
                continue
            levels = self.levels or min(max(int(np.log2(len(values))), 1), MAX_LEVELS)
            for pieces in (2**level for level in range(levels)):
                h = (values[-1] - values[0]) / pieces
                # Centres of all whose support, degree + 1 pieces wide, overlaps the range.
                centres = values[0] + h * (np.arange(pieces + self.degree) - 0.5 * (self.degree - 1))
                inputs.append(np.full(len(centres), k, np.intp))
                places.append(centres)
                spans.append(np.full(len(centres), h))
        return SplineFunctions(self.degree, np.concatenate(inputs), np.concatenate(places), np.concatenate(spans))


@dataclass(frozen=True, eq=False)
class SplineFunctions:
    """B((x_k - c) / h): `inputs` (M,), `places` c (M,) and `spans` h (M,)."""

    degree: int
    inputs: Indices
    places: Array
    spans: Array

    @property
    def size(self) -> int:
        """M."""
        return len(self.inputs)

    def __call__(self, X: Array, chosen: Indices) -> Array:
        """The chosen splines at X (N, d): (N, number chosen)."""
        knots = np.arange(self.degree + 2) - 0.5 * (self.degree + 1)
        centred = scipy.interpolate.BSpline.basis_element(knots, extrapolate=False)
        U = (X[:, self.inputs[chosen]] - self.places[chosen]) / self.spans[chosen]
        return np.nan_to_num(np.asarray(centred(U), np.float64), nan=0.0)

    def take(self, chosen: Indices) -> "SplineFunctions":
        """Only the chosen splines, in that order."""
        return SplineFunctions(self.degree, self.inputs[chosen], self.places[chosen], self.spans[chosen])

    def shape(self, number: int) -> Shape:
        """Centre of one spline, and the distance of its knots."""
        return Shape("b_spline", (int(self.inputs[number]),), (float(self.places[number]),), float(self.spans[number]))


@dataclass(frozen=True)
class Steps:
    """phi(x) = 1 where x_k >= c, else 0: for each input k one for each place c between two values of the rows."""

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["steps"] = "steps"

    def functions(self, X: Array) -> "StepFunctions":
        """Halfway between each two neighbours among the distinct values of each column of X (N, d)."""
        values = [np.unique(column) for column in X.T]
        inputs = [np.full(max(len(one) - 1, 0), k, np.intp) for k, one in enumerate(values)]
        # The mean of two floats next to each other may be the lower one, which would then be on the wrong side.
        places = [np.maximum(0.5 * one[:-1] + 0.5 * one[1:], np.nextafter(one[:-1], np.inf)) for one in values]
        return StepFunctions(np.concatenate(inputs), np.concatenate(places))


@dataclass(frozen=True, eq=False)
class StepFunctions:
    """1 where the input k reaches c: `inputs` (M,) and `places` (M,)."""

    inputs: Indices
    places: Array

    @property
    def size(self) -> int:
        """M."""
        return len(self.inputs)

    def __call__(self, X: Array, chosen: Indices) -> Array:
        """The chosen steps at X (N, d): (N, number chosen)."""
        return np.asarray((X[:, self.inputs[chosen]] >= self.places[chosen]).astype(np.float64))

    def take(self, chosen: Indices) -> "StepFunctions":
        """Only the chosen steps, in that order."""
        return StepFunctions(self.inputs[chosen], self.places[chosen])

    def shape(self, number: int) -> Shape:
        """The place of one step."""
        return Shape("step", (int(self.inputs[number]),), (float(self.places[number]),))


Dictionary = Steps | Fourier | BSplines | Gabor
DictionaryFunctions = StepFunctions | FourierFunctions | SplineFunctions | GaborFunctions
