"""Coordinates of members of a space of which only inner products are known, by an incomplete Cholesky factorisation."""

from collections.abc import Callable

import numpy as np

from relevance_bayes.core.types import Array, Indices

RESIDUE = 1e-12
"""The residual of a member's square, which is 1 at first, at most."""

POOL, RANKS_PER_MEMBER = 32, 8
"""Pivots of one block, and the rank for each of them: products of matrices instead of vectors."""

MIN_PIVOT_SHARE = 0.3
"""The least residual of a pivot of a block, as a share of the greatest residual."""


def coordinates(size: int, products: Callable[[Indices], Array], *, max_rank: int, residue: float = RESIDUE) -> Array:
    """G (k, size) with G'G the inner products of `size` members of norm 1, each square up to an error of `residue`.

    `products(numbers)` are those of some members with all, (n, size). Pivots have the greatest residuals, or
    nearly so; k is at most `max_rank`, at which errors may be greater.
    """
    left = np.ones(size)
    rows = np.empty((min(max_rank, size), size))
    rank = 0
    while rank < len(rows) and left.max() > residue:
        pool = _max_left(left, min(1 + rank // RANKS_PER_MEMBER, POOL), residue)
        fresh = products(pool)
        fresh -= rows[:rank, pool].T @ rows[:rank]
        first, waiting = rank, left[pool]
        while rank < len(rows) and waiting.max() > residue and waiting.max() >= MIN_PIVOT_SHARE * left.max():
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
    """At most `number` members of the greatest residuals."""
    if number == 1:
        return np.array([left.argmax()])
    pool: Indices = np.argpartition(-left, min(number, len(left)) - 1)[:number]
    return pool[left[pool] > max(residue, MIN_PIVOT_SHARE * float(left.max()))]
