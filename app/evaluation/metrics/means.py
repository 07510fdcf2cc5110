"""Means over rows that are added in parts."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from relevance_bayes.core.types import Array


@dataclass(frozen=True)
class Mean:
    """The mean of `rows` numbers, and the number of NaN, which are left out."""

    rows: int = 0
    mean: float = 0.0
    left_out: int = 0

    @classmethod
    def of(cls, values: Array) -> Self:
        """Return the mean of `values` (N,), of which NaN are left out."""
        present = values[~np.isnan(values)]
        largest = float(np.abs(present).max(initial=0.0)) or 1.0
        mean = largest * float((present / largest).mean()) if len(present) else 0.0
        return cls(len(present), mean, len(values) - len(present))

    def __add__(self, other: "Mean") -> "Mean":
        """Return the mean over both."""
        rows = self.rows + other.rows
        share = other.rows / rows if rows else 0.0
        return Mean(rows, (1.0 - share) * self.mean + share * other.mean, self.left_out + other.left_out)

    @property
    def value(self) -> float | None:
        """The mean, None without rows."""
        return self.mean if self.rows else None
