"""The code of an image: a constant and few wavelets, and their error."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, log10

import numpy as np

from relevance_bayes.core.algorithms.state import Termination
from relevance_bayes.core.dictionaries import GaborFunctions, Shape
from relevance_bayes.core.errors import DataError
from relevance_bayes.core.types import Array
from relevance_bayes.tasks.images.columns import SPANS_REACHED, SparseColumns, Window

VALUES_AT_ONCE = 2**20
"""Wavelets times points evaluated at once, which bounds the memory."""


@dataclass(frozen=True, eq=False)
class ImageCode:
    """constant + sum_m w_m phi_m over an image (`height`, `width`), (row, column) = (0, 0) its first pixel.

    `wavelets` R functions whose centres are (row, column) and whose `weights` w are (R,), in the image's unit, with
    their `sds` (R,) given distant functions, and the precisions `alpha` (R,) of their priors. `error` is the root mean
    square of the residuals, in the same unit, and `noise_sd` the assumed sd of the noise: learned, given, or derived
    from the goal. `candidates` is the number of candidate functions. `path` has the error with each number of functions
    of the search, the constant counted; its last entry is this code's.
    """

    height: int
    width: int
    constant: float
    wavelets: GaborFunctions
    weights: Array
    sds: Array
    alpha: Array
    error: float
    noise_sd: float
    candidates: int
    path: tuple[tuple[int, float], ...]
    termination: Termination

    @property
    def functions(self) -> int:
        """R and the constant."""
        return len(self.weights) + 1

    def shape(self, number: int) -> Shape:
        """Place, span, frequency and phase of one wavelet, in pixels."""
        return self.wavelets.shape(number)

    def at(self, X: Array) -> Array:
        """The image (N,) at points X (N, 2), rows and columns, also between pixels."""
        return np.concatenate([np.empty(0), *self._values(X)])

    def _values(self, X: Array) -> Iterator[Array]:
        many = max(1, VALUES_AT_ONCE // self.functions)
        every = np.arange(len(self.weights))
        for part in (X[first : first + many] for first in range(0, len(X), many)):
            apart = part[:, None, :] - self.wavelets.centres
            near = np.square(apart).sum(axis=2) < (SPANS_REACHED * self.wavelets.spans) ** 2
            yield self.constant + (self.wavelets(part, every) * near) @ self.weights


def decode(code: ImageCode, window: Window | None = None) -> Array:
    """All pixels (height, width), or those of a window of the image; raises DataError for another window."""
    whole = Window(0, 0, code.height, code.width)
    seen = whole if window is None else window
    if seen.with_(whole) != seen or not seen.size:
        raise DataError(f"expected a window within {code.height} x {code.width} pixels, got {window}")
    reach = SPANS_REACHED * code.wavelets.spans[:, None]
    first, last = np.array([seen.top, seen.left]), np.array([seen.bottom - 1, seen.right - 1])
    # Centres are on whole pixels: a wavelet centred in the window or next to it has a pixel in it.
    distance = np.maximum(np.maximum(first - code.wavelets.centres, code.wavelets.centres - last), 0.0)
    some = np.flatnonzero(np.square(distance).sum(axis=1) < reach[:, 0] ** 2)
    columns = SparseColumns.of(code.wavelets.take(some), seen, whole)
    return code.constant + columns.sum(code.weights[some]).reshape(seen.height, seen.width)


def psnr(error: float, *, peak: float = 255.0) -> float:
    """20 log10(peak/error) in dB, infinite without error."""
    return 20.0 * log10(peak / error) if error > 0.0 else inf
