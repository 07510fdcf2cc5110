"""From inputs to the unit-width space of the kernels: the ways to find a width, and the map that was found."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from app.sparse_bayes.linalg import squared_distances
from app.sparse_bayes.types import Array


@dataclass(frozen=True)
class FixedWidth:
    """The papers' r, given."""

    __pydantic_config__ = {"extra": "forbid"}

    value: float = field(metadata={"gt": 0, "allow_inf_nan": False})
    type: Literal["fixed"] = "fixed"


@dataclass(frozen=True)
class CrossValidationWidth:
    """The width of greatest predictive log density over `folds` folds, everything refitted in each."""

    __pydantic_config__ = {"extra": "forbid"}

    folds: int = field(default=5, metadata={"ge": 2, "le": 20})
    type: Literal["cross_validation"] = "cross_validation"


@dataclass(frozen=True)
class EvidenceWidth:
    """The width of greatest marginal likelihood over the same bounded range.

    Keeps too many functions on noisy data [SCIENCE 3].
    """

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["evidence"] = "evidence"


Width = FixedWidth | CrossValidationWidth | EvidenceWidth


@dataclass(frozen=True)
class InputMap:
    """u = x / width: the frozen map from inputs X (N, d) to the kernels' U (N, d)."""

    width: float

    def __call__(self, X: Array) -> Array:
        """U (N, d)."""
        return X / self.width


MOST_ROWS_MEASURED = 1_000
"""Distances between this many rows say enough about their scale."""


def width_range(X: Array) -> tuple[float, float]:
    """The widths worth looking at for X (N, d).

    From the median distance to the third nearest neighbour up to the diameter [SCIENCE 3].

    Rows that stand twice count once. Where all rows are one point, any width is as good: (1, 1).
    """
    distinct = np.unique(X, axis=0)
    distinct = distinct[:: -(-len(distinct) // MOST_ROWS_MEASURED)]
    if len(distinct) < 2:
        return 1.0, 1.0
    distances = np.sort(np.sqrt(squared_distances(distinct, distinct)), axis=1)
    least = float(np.median(distances[:, min(3, len(distinct) - 1)]))
    return least, max(float(distances[:, -1].max()), least)
