"""Small images and a small level, whose candidates fit into a matrix."""

import numpy as np

from relevance_bayes.core.dictionaries import GaborFunctions
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.tasks.images.columns import Level, SparseColumns, Window

SMALL = Level((4,), 12)
"""12 x 12 inner pixels, 37 wavelets on each: 5,328 candidates."""

FULL = Window(0, 0, 12, 11)
"""An image that ends within the tile."""


def inside(level: Level, image: Window) -> Indices:
    """The numbers of the candidates of the first tile that are in the image."""
    return np.flatnonzero((level.functions.centres < [image.bottom, image.right]).all(axis=1))


def dense(functions: GaborFunctions, window: Window, image: Window) -> Array:
    """All columns as one matrix (pixels, M)."""
    columns = SparseColumns.of(functions, window, image)
    return np.column_stack([columns.column(number) for number in range(functions.size)])


def pixels(image: Window) -> Array:
    """The places of all pixels, along the rows: (N, 2)."""
    rows, columns = np.arange(image.top, image.bottom), np.arange(image.left, image.right)
    return np.stack(np.meshgrid(rows, columns, indexing="ij"), axis=-1).reshape(-1, 2).astype(np.float64)


def sparse_image(height: int, width: int, wavelets: GaborFunctions, weights: Array) -> Array:
    """A sum of wavelets, 100 added."""
    full = Window(0, 0, height, width)
    return 100.0 + SparseColumns.of(wavelets, full, full).sum(weights).reshape(height, width)


FIVE = GaborFunctions(
    np.array([[5.0, 9.0], [16.0, 14.0], [24.0, 40.0], [31.0, 22.0], [32.0, 32.0]]),
    np.array([4.0, 8.0, 8.0, 4.0, 16.0]),
    np.array([[0.0, 0.0], [1.0 / 8.0, 0.0], [0.0, 0.0], [0.5 / 4.0, 0.0], [1.0 / 16.0, 0.0]]),
    np.array([0.0, 0.25, 0.0, 0.25, 0.0]),
)
"""Candidates of both levels, some of them across the tiles' borders."""

FIVE_WEIGHTS = np.array([40.0, -60.0, 25.0, 30.0, 50.0])
