"""Grey images that need no file of ours: two photographs that come with scikit-learn, and two that are drawn."""

from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

from benchmarks.files import NotRun
from relevance_bayes.core.types import Array

SIDE = 256

GREY = (0.299, 0.587, 0.114)
"""Shares of red, green and blue, as JPEG has them."""


def photograph(name: str, side: int) -> Array:
    """The middle of one of scikit-learn's photographs, (side, side), 0 to 255."""
    if find_spec("sklearn") is None or find_spec("PIL") is None:
        raise NotRun("scikit-learn or Pillow is not installed")
    from sklearn.datasets import load_sample_image

    complete = np.asarray(load_sample_image(name), np.float64) @ np.array(GREY)
    top, left = ((length - side) // 2 for length in complete.shape)
    return np.ascontiguousarray(complete[top : top + side, left : left + side])


def weave(side: int) -> Array:
    """Four stripes of every direction that grow finer, one in each quarter, under a slope."""
    y, x = np.mgrid[:side, :side] / side
    quarters = (2.0 * y).astype(int) * 2 + (2.0 * x).astype(int)
    turns = np.pi * np.array([0.1, 0.35, 0.6, 0.85])[quarters]
    along = x * np.cos(turns) + y * np.sin(turns)
    return np.asarray(110.0 + 60.0 * np.sin(2.0 * np.pi * (12.0 + 10.0 * along) * along) + 40.0 * y)


def cartoon(side: int) -> Array:
    """Discs and a bar of one grey each."""
    y, x = np.mgrid[:side, :side] / side
    image = np.full((side, side), 60.0)
    for row, column, radius, grey in ((0.35, 0.3, 0.22, 200.0), (0.7, 0.6, 0.18, 120.0), (0.25, 0.75, 0.12, 240.0)):
        image[(y - row) ** 2 + (x - column) ** 2 < radius**2] = grey
    image[np.abs(y - 0.4 * x - 0.45) < 0.02] = 20.0
    return image


SOURCES: dict[str, Callable[[int], Array]] = {
    "flower": lambda side: photograph("flower.jpg", side),
    "temple": lambda side: photograph("china.jpg", side),
    "weave": weave,
    "cartoon": cartoon,
}
