"""Wavelets at the pixels of a window, as sparse columns."""

from dataclasses import dataclass

import numpy as np

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
