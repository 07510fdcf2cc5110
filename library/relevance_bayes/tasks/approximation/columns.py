"""An expansion and its terms as columns of numbers, with the integrals of products as inner products."""

from dataclasses import dataclass

import numpy as np

from relevance_bayes.core.coordinates import RESIDUE, coordinates
from relevance_bayes.core.errors import DataError
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.tasks.approximation.expansion import KernelExpansion

MAX_COORDINATES = 2_000
COORDINATES_ERROR = 0.01
"""Share of the requested error by which coordinates of a term may be off."""


@dataclass(frozen=True, eq=False)
class TermColumns:
    """f in coordinates: the terms G (k, J), each of norm 1, and f itself, t = G own (k,), of norm 1 too.

    `masses` (J,) are the integrals of the terms over their norms; f's own norm is e^`log_size`.
    """

    G: Array
    t: Array
    own: Array
    masses: Array
    log_norms: Array
    log_size: float

    @classmethod
    def of(cls, whole: KernelExpansion, error: float) -> "TermColumns":
        residue = max(np.square(COORDINATES_ERROR * error), RESIDUE)
        G = coordinates(whole.size, whole.cosines, max_rank=MAX_COORDINATES, residue=float(residue))
        if len(G) < 2:  # a fit has two rows at least
            G = np.vstack([G, np.zeros(whole.size)])
        if not whole.coefficients.any():
            raise DataError("expected a function that is not constant, got coefficients of 0")
        # Norms in many dimensions may leave the range of a float64, not their ratios to the greatest.
        there = whole.coefficients != 0.0
        sizes = np.full(whole.size, -np.inf)
        sizes[there] = np.log(np.abs(whole.coefficients[there])) + whole.log_norms[there]
        top = float(sizes.max())
        own = np.sign(whole.coefficients) * np.exp(sizes - top)
        size = float(np.linalg.norm(G @ own))
        if size == 0.0:
            raise DataError("expected a function that is not constant, got terms that cancel")
        masses = np.exp(whole.log_masses - whole.log_norms)
        return cls(G, G @ own / size, own / size, masses, whole.log_norms, top + float(np.log(size)))

    def nearest(self, chosen: Indices) -> Array:
        """The weights (R,) of the chosen terms with the least error."""
        return np.asarray(np.linalg.lstsq(self.G[:, chosen], self.t, rcond=None)[0])

    def coefficients(self, weights: Array, chosen: Indices) -> Array:
        """The coefficients (R,) of the chosen terms themselves, not scaled to norm 1."""
        return np.asarray(weights * np.exp(self.log_size - self.log_norms[chosen]))


@dataclass(frozen=True, eq=False)
class ColumnSpan:
    """An orthonormal basis Q (k, R) of the `chosen` columns' span, in the order of their numbers here."""

    chosen: tuple[int, ...]
    Q: Array

    @classmethod
    def none(cls, k: int) -> "ColumnSpan":
        """The empty span of columns (k,)."""
        return cls((), np.empty((k, 0)))

    def moved(self, G: Array, chosen: tuple[int, ...]) -> "ColumnSpan":
        """The span of other columns of G (k, J): the common prefix is reused.

        Projected twice: one projection of a column that is nearly in the span leaves rounding.
        """
        same = next((n for n, (old, new) in enumerate(zip(self.chosen, chosen, strict=False)) if old != new), None)
        kept = min(len(self.chosen), len(chosen)) if same is None else same
        before, more = self.Q[:, :kept], G[:, list(chosen[kept:])]
        for _ in range(2):
            more = more - before @ (before.T @ more)
        return ColumnSpan(chosen, np.hstack([before, np.linalg.qr(more)[0]]))

    def missed(self, t: Array) -> float:
        """The distance of t (k,) from the span."""
        return float(np.linalg.norm(t - self.Q @ (self.Q.T @ t)))
