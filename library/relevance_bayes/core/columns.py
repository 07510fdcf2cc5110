"""The columns P (N, R) of a model's functions at its rows: stored, or computed again in each pass over the rows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from relevance_bayes.core.linalg import pieces, squared_products, weighted_gram
from relevance_bayes.core.types import Array

MAX_STORED = 2**26
"""The most numbers of P that are stored, 512 MiB. Above it a pass costs its kernel values, about as much as P'P."""


@dataclass(frozen=True, eq=False)
class Columns:
    """P (`rows`, `functions`), which `compute` returns for a slice of the rows; `width` is of the numbers of a row
    that are computed at once.
    """

    rows: int
    functions: int
    width: int
    compute: Callable[["slice[int, int, None]"], Array]

    @classmethod
    def stored(cls, P: Array) -> "Columns":
        """The columns of a stored P (N, R)."""
        rows, functions = P.shape
        return cls(rows, functions, functions, P.__getitem__)

    def pieces(self) -> "Iterator[tuple[slice[int, int, None], Array]]":
        """Slices of n rows in their order, with P (n, R) there."""
        return ((some, self.compute(some)) for some in pieces(self.rows, self.width))

    def array(self) -> Array:
        """P (N, R) at all rows."""
        return self.compute(slice(0, self.rows))

    def times(self, weights: Array) -> Array:
        """P w, (N,) or (N, K), of w (R,) or (R, K)."""
        found = np.empty((self.rows, *weights.shape[1:]))
        for some, P in self.pieces():
            found[some] = P @ weights
        return found

    def transposed_times(self, g: Array) -> Array:
        """P'g, (R,) or (R, K), of g (N,) or (N, K)."""
        found = np.zeros((self.functions, *g.shape[1:]))
        for some, P in self.pieces():
            found += P.T @ g[some]
        return found

    def gram(self, weights: Array) -> Array:
        """P'diag(w)P, (R, R), of w (N,), none of them below 0."""
        found = np.zeros((self.functions, self.functions))
        for some, P in self.pieces():
            found += weighted_gram(P, weights[some])
        return found

    def weighted_squares(self, weights: Array) -> Array:
        """The sum over r of w_r p_nr^2, (N,), of w (R,)."""
        found = np.empty(self.rows)
        for some, P in self.pieces():
            found[some] = np.square(P) @ weights
        return found

    def squared_products(self, lower: Array) -> Array:
        """|L p_n|^2, (N,), of a lower triangular L (R, R)."""
        found = np.empty(self.rows)
        for some, P in self.pieces():
            found[some] = squared_products(P, lower)
        return found
