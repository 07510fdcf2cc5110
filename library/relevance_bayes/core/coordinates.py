"""Members of a space that are known by their inner products alone, as columns of numbers with the same ones."""

from collections.abc import Callable

import numpy as np

from relevance_bayes.core.types import Array, Indices

RESIDUE = 1e-12
"""The residual of a member's square, which is 1 at first, at most."""

POOL, RANKS_PER_MEMBER = 32, 8
"""Members that are added together, once there are so many ranks for each: one product of matrices, not of vectors."""

WORTH = 0.3
"""A pool's members are pivots while what is left of them is at least this share of the most that is left anywhere."""


def coordinates(size: int, products: Callable[[Indices], Array], *, max_rank: int, residue: float = RESIDUE) -> Array:
    """G (k, size) with G'G the inner products of `size` members of norm 1: no square is missed by more than `residue`.

    `products(numbers)` are those of some members with all, (n, size). Pivots are those that are explained least, or
    nearly so, by the rows before them, as in an incomplete Cholesky factorisation; k is `max_rank` at most, which may
    leave more.
    """
    left = np.ones(size)
    rows = np.empty((min(max_rank, size), size))
    rank = 0
    while rank < len(rows) and left.max() > residue:
        pool = _max_left(left, min(1 + rank // RANKS_PER_MEMBER, POOL), residue)
        fresh = products(pool)
        fresh -= rows[:rank, pool].T @ rows[:rank]
        first, waiting = rank, left[pool]
        while rank < len(rows) and waiting.max() > residue and waiting.max() >= WORTH * left.max():
            place = int(waiting.argmax())
            pivot = pool[place]
            row = fresh[place] - rows[first:rank, pivot] @ rows[first:rank]
            rows[rank] = row / np.sqrt(left[pivot])
            left = np.maximum(left - np.square(rows[rank]), 0.0)
            left[pivot] = 0.0
            waiting = left[pool]
            rank += 1
    return rows[:rank]


def _max_left(left: Array, number: int, residue: float) -> Indices:
    """So many members of which most is left, or fewer where others are explained or not worth a pivot."""
    if number == 1:
        return np.array([left.argmax()])
    pool: Indices = np.argpartition(-left, min(number, len(left)) - 1)[:number]
    return pool[left[pool] > max(residue, WORTH * float(left.max()))]
