"""Wavelets at the pixels of a window as sparse columns, all their shifts, and products by Fourier transforms."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from relevance_bayes.core.dictionaries import GaborFunctions
from relevance_bayes.core.types import Array, Indices

SPANS_REACHED = 2
"""The distance in spans beyond which a wavelet is 0: there it is 3.5e-6 of its greatest value."""


@dataclass(frozen=True)
class Window:
    """`height` times `width` pixels, the first of them at (`top`, `left`)."""

    top: int
    left: int
    height: int
    width: int

    @property
    def size(self) -> int:
        """The number of pixels."""
        return self.height * self.width

    @property
    def bottom(self) -> int:
        """The row below the last."""
        return self.top + self.height

    @property
    def right(self) -> int:
        """The column beyond the last."""
        return self.left + self.width

    def with_(self, other: "Window") -> "Window":
        """The intersection of both, of no height or no width where it is empty."""
        top, left = max(self.top, other.top), max(self.left, other.left)
        bottom, right = min(self.bottom, other.bottom), min(self.right, other.right)
        return Window(top, left, max(bottom - top, 0), max(right - left, 0))


@dataclass(frozen=True, eq=False)
class SparseColumns:
    """P (pixels, R) as sparse columns.

    `values` and their `pixels`, one column after the other, each from its index in `starts` (R,); pixels
    are counted along the rows of a window of `size` pixels. No column is empty.
    """

    size: int
    values: Array
    pixels: Indices
    starts: Indices

    @classmethod
    def none(cls, size: int) -> "SparseColumns":
        """Of no function."""
        nothing = np.empty(0, np.intp)
        return cls(size, np.empty(0), nothing, nothing)

    @classmethod
    def of(cls, functions: GaborFunctions, window: Window, inside: Window) -> "SparseColumns":
        """The columns of functions in units of pixels in the `window`, each not zero somewhere in `inside`, and zero
        outside."""
        parts = [_column(functions, number, window, inside) for number in range(functions.size)]
        if not parts:
            return cls.none(window.size)
        lengths = [len(values) for values, _ in parts]
        starts = np.cumsum([0, *lengths[:-1]])
        values = np.concatenate([values for values, _ in parts])
        return cls(window.size, values, np.concatenate([pixels for _, pixels in parts]), starts)

    @property
    def number(self) -> int:
        """R."""
        return len(self.starts)

    def sum(self, weights: Array) -> Array:
        """P w (size,), for weights (R,)."""
        lengths = np.diff(np.append(self.starts, len(self.values)))
        return np.bincount(self.pixels, np.repeat(weights, lengths) * self.values, self.size).astype(np.float64)

    def products(self, image: Array) -> Array:
        """P'y (R,), for y (size,)."""
        return np.add.reduceat(self.values * image[self.pixels], self.starts) if self.number else np.empty(0)

    @property
    def squares(self) -> Array:
        """diag(P'P) (R,)."""
        return np.add.reduceat(np.square(self.values), self.starts) if self.number else np.empty(0)

    def column(self, number: int) -> Array:
        """One column in full, (size,)."""
        full = np.zeros(self.size)
        first, stop = self._part(number)
        full[self.pixels[first:stop]] = self.values[first:stop]
        return full

    def followed(self, other: "SparseColumns") -> "SparseColumns":
        """These columns followed by those of another."""
        return SparseColumns(
            self.size,
            np.concatenate([self.values, other.values]),
            np.concatenate([self.pixels, other.pixels]),
            np.concatenate([self.starts, other.starts + len(self.values)]),
        )

    def without(self, number: int) -> "SparseColumns":
        """The columns except one."""
        first, stop = self._part(number)
        starts = np.delete(self.starts, number)
        starts[number:] -= stop - first
        values = np.concatenate([self.values[:first], self.values[stop:]])
        pixels = np.concatenate([self.pixels[:first], self.pixels[stop:]])
        return SparseColumns(self.size, values, pixels, starts)

    def _part(self, number: int) -> tuple[int, int]:
        stop = self.starts[number + 1] if number + 1 < self.number else len(self.values)
        return int(self.starts[number]), int(stop)


def _column(functions: GaborFunctions, number: int, window: Window, inside: Window) -> tuple[Array, Indices]:
    (y, x), reach = functions.centres[number], SPANS_REACHED * functions.spans[number]
    seen = window.with_(inside)
    rows = np.arange(max(seen.top, int(np.ceil(y - reach))), min(seen.bottom, int(np.floor(y + reach)) + 1))
    columns = np.arange(max(seen.left, int(np.ceil(x - reach))), min(seen.right, int(np.floor(x + reach)) + 1))
    down, right = (rows - y)[:, None], columns - x
    square = down**2 + right**2
    turns = down * functions.frequencies[number, 0] + right * functions.frequencies[number, 1]
    values = np.exp(-np.pi * square / functions.spans[number] ** 2)
    values *= np.cos(2.0 * np.pi * (turns - functions.phases[number]))
    near = square < reach**2
    pixels = (rows - window.top)[:, None] * window.width + (columns - window.left)
    return values[near], pixels[near]


DIRECTIONS = 6

WAVES = (0.5, 1.0, 1.5)
"""Cycles in a span, beside 0. 400 functions of a photograph of 128 x 128 pixels: 25.1 dB, as with eight
directions; 25.1 as well without the highest, but 23.7 for 24.2 on one of masonry."""

STEPS_PER_SPAN = 4
"""Centres are a quarter of a span apart; half a span loses .5 dB."""

Transforms = NDArray[np.complex128]


@dataclass(frozen=True)
class Level:
    """Wavelets of the `spans`, in pixels, each a multiple of 4, centred in the `inner` pixels of a tile.

    exp(-pi |x - c|^2/s^2) cos(2 pi (f'(x - c) - phase)), zero beyond two spans: |f| = 0, 1/2s, 1/s, 3/2s in six
    directions, phases 0 and 1/4. A tile has a margin around its inner pixels of the radius of its functions, so that
    it contains them; margins of neighbours overlap.
    """

    spans: tuple[int, ...]
    inner: int

    @property
    def margin(self) -> int:
        """The radius of functions, in pixels."""
        return SPANS_REACHED * max(self.spans)

    @property
    def side(self) -> int:
        """The side of the whole tile, in pixels."""
        return self.inner + 2 * self.margin

    @property
    def size(self) -> int:
        """M, all candidates of a tile."""
        return self.functions.size

    @cached_property
    def functions(self) -> GaborFunctions:
        """All candidates; the first inner pixel is (0, 0)."""
        centres, spans, frequencies, phases = [], [], [], []
        for span in self.spans:
            places = np.arange(0.0, self.inner, span // STEPS_PER_SPAN)
            grid = np.stack(np.meshgrid(places, places, indexing="ij"), axis=-1).reshape(-1, 2)
            for phase, waves in ((0.0, _waves(span)), (0.25, _waves(span)[1:])):
                centres.append(np.tile(grid, (len(waves), 1)))
                frequencies.append(np.repeat(waves, len(grid), axis=0))
                spans.append(np.full(len(waves) * len(grid), float(span)))
                phases.append(np.full(len(waves) * len(grid), phase))
        return GaborFunctions(
            np.concatenate(centres), np.concatenate(spans), np.concatenate(frequencies), np.concatenate(phases)
        )

    def at(self, number: Indices, top: int, left: int) -> GaborFunctions:
        """Candidates (R,) of the tile whose first inner pixel is (top, left)."""
        taken = self.functions.take(number)
        corner = np.array([top, left], np.float64)
        return GaborFunctions(taken.centres + corner, taken.spans, taken.frequencies, taken.phases)

    def products(self, tile: Array) -> Array:
        """Phi'y (M,) with an image y (side, side) of the whole tile."""
        return self._correlated(scipy.fft.fft2(tile), self._spectra)

    def squares(self, seen: Array) -> Array:
        """diag(Phi'Phi) (M,), summed over the pixels that are 1 in `seen` (side, side), not those that are 0."""
        return self._correlated(scipy.fft.fft2(seen), self._squared)

    def _correlated(self, image: Transforms, spectra: tuple[Transforms, ...]) -> Array:
        """The real parts are the functions of phase 0, the imaginary parts those of 1/4.

        Only every `step`-th shift is a candidate: their transform is the whole one folded.
        """
        found = []
        for span, filters in zip(self.spans, spectra, strict=True):
            step = span // STEPS_PER_SPAN
            apart, first, many = self.side // step, self.margin // step, self.inner // step
            folded = np.empty((len(filters), apart, apart), np.complex128)
            for number, one in enumerate(filters):  # one by one, which fits into the processor's cache
                rows = (image * one).reshape(step, apart * self.side).sum(axis=0)
                folded[number] = rows.reshape(apart, step, apart).sum(axis=1)
            shifts = scipy.fft.ifft2(folded, overwrite_x=True)[:, first : first + many, first : first + many] / step**2
            found += [shifts.real.ravel(), shifts.imag[1:].ravel()]
        return np.concatenate(found)

    @cached_property
    def _spectra(self) -> tuple[Transforms, ...]:
        return tuple(_conjugate(self._complex_waves(span)) for span in self.spans)

    @cached_property
    def _squared(self) -> tuple[Transforms, ...]:
        complex_waves = [self._complex_waves(span) for span in self.spans]
        return tuple(_conjugate(np.square(one.real) + 1j * np.square(one.imag)) for one in complex_waves)

    def _complex_waves(self, span: int) -> Transforms:
        """Functions of both phases centred at pixel (0, 0), periodic in the tile: (F, side, side)."""
        x = np.arange(self.side)
        x = np.where(2 * x >= self.side, x - self.side, x).astype(np.float64)
        square = x[:, None] ** 2 + x**2
        under = np.exp(-np.pi * square / span**2) * (square < (SPANS_REACHED * span) ** 2)
        return np.stack([under * np.exp(2j * np.pi * (f[0] * x[:, None] + f[1] * x)) for f in _waves(span)])


def _waves(span: int) -> Array:
    """Frequencies in cycles per pixel, 0 first: (F, 2)."""
    turns = np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    directions = np.column_stack([np.cos(turns), np.sin(turns)])
    return np.concatenate([np.zeros((1, 2)), *(waves / span * directions for waves in WAVES)])


def _conjugate(functions: Transforms) -> Transforms:
    """The factor of a transform for sums of products at all shifts."""
    return np.conj(scipy.fft.fft2(np.conj(functions)))


LEVELS = (Level((4, 8), 16), Level((16, 32), 64))
"""The levels: narrow functions in small tiles, wide ones in wider tiles."""
