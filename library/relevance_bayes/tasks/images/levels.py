"""The wavelets of a tile, all their shifts, and products with them by Fourier transforms."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from relevance_bayes.core.dictionaries import GaborFunctions
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.tasks.images.columns import SPANS_REACHED

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
