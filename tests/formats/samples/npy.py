"""Rows and predictions as a matrix."""

import io
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tests.formats.samples.json import FlatRow


def written(rows: Sequence[FlatRow]) -> bytes:
    """None is NaN, and all else a number."""
    return npy(np.array([[np.nan if cell is None else cell for cell in row.values()] for row in rows], float))


def npy(array: ArrayLike) -> bytes:
    """An array as a file."""
    body = io.BytesIO()
    np.save(body, array, allow_pickle=True)
    return body.getvalue()


def read(content: bytes, names: Sequence[str]) -> list[FlatRow]:
    """Predictions, which are called `names`."""
    matrix = np.load(io.BytesIO(content), allow_pickle=False)
    assert matrix.shape[1] == len(names)
    return [
        {name: None if np.isnan(cell) else cell for name, cell in zip(names, row, strict=True)}
        for row in matrix.tolist()
    ]
