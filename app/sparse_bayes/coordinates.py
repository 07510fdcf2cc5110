"""Members of a space that are known by their inner products alone, as columns of numbers with the same ones."""

from collections.abc import Callable

import numpy as np

from app.sparse_bayes.types import Array

RESIDUE = 1e-12
"""What may be left of a member's square, which is 1 at first."""


def coordinates(size: int, products: Callable[[int], Array], *, most: int, residue: float = RESIDUE) -> Array:
    """G (k, size) with G'G the inner products of `size` members of norm 1: no square is missed by more than `residue`.

    `products(number)` are those of one member with all, (size,). Pivots are those that are told least, by the columns
    before them, as in an incomplete Cholesky factorisation; k is `most` at most, which may leave more.
    """
    left = np.ones(size)
    rows = np.empty((min(most, size), size))
    for rank in range(len(rows)):
        pivot = int(left.argmax())
        if left[pivot] <= residue:
            return rows[:rank]
        row = products(pivot) - rows[:rank, pivot] @ rows[:rank]
        rows[rank] = row / np.sqrt(left[pivot])
        left = np.maximum(left - np.square(rows[rank]), 0.0)
        left[pivot] = 0.0
    return rows
