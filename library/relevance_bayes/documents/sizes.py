"""Arrays of a document with checked sizes."""

from collections.abc import Sequence

import numpy as np

from relevance_bayes.core.types import Array, Indices
from relevance_bayes.records.errors import Fault, InvalidRequestError


def columns(numbers: Sequence[int] | Indices, inputs: int, where: str) -> Indices:
    """Return indices of columns of X; raises InvalidRequestError, as all here do."""
    for place, number in enumerate(numbers):
        if number >= inputs:
            raise wrong(f"{where}/{place}", f"Expected a column from 0 to {inputs - 1}, got {number}.")
    return np.asarray(numbers, np.intp)


def vector(numbers: Sequence[float] | Array, size: int, where: str) -> Array:
    """Return a vector (size,)."""
    if len(numbers) != size:
        raise wrong(where, f"Expected {size} numbers, got {len(numbers)}.")
    return np.asarray(numbers, np.float64)


def matrix(rows: Sequence[Sequence[float]] | Array, shape: tuple[int, int], where: str) -> Array:
    """Return a matrix (rows, columns)."""
    if isinstance(rows, np.ndarray) and rows.shape == shape:
        return rows
    if len(rows) != shape[0]:
        raise wrong(where, f"Expected {shape[0]} lists, got {len(rows)}.")
    for place, row in enumerate(rows):
        if len(row) != shape[1]:
            raise wrong(f"{where}/{place}", f"Expected {shape[1]} numbers, got {len(row)}.")
    return np.asarray(rows, np.float64).reshape(shape)


def wrong(where: str, detail: str) -> InvalidRequestError:
    """Return the error for a place in a document."""
    return InvalidRequestError(f"At {where}: {detail}", [Fault(detail, where)])
