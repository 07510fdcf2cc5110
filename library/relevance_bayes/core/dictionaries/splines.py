"""B-splines from wide to narrow, of compact support."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import scipy

from relevance_bayes.core.dictionaries.shapes import Shape
from relevance_bayes.core.types import Array, Indices

MAX_LEVELS = 10


@dataclass(frozen=True)
class BSplines:
    """B((x_k - c) / h), B the centred B-spline of a `degree`, for each input k.

    On level j = 0 ... `levels` - 1 the range of the input is cut into 2^j pieces of length h, and there is one function
    for each whose support overlaps it: together they span all splines of that degree with those knots. By
    default the narrowest pieces hold two of the distinct values, and there are 10 levels at most.
    """

    __pydantic_config__ = {"extra": "forbid"}

    degree: int = field(default=3, metadata={"ge": 1, "le": 7})
    levels: int | None = field(default=None, metadata={"ge": 1, "le": 16})
    type: Literal["b_splines"] = "b_splines"

    def functions(self, X: Array) -> "SplineFunctions":
        """The splines of each column of X (N, d) that is not constant."""
        inputs, places, spans = [np.empty(0, np.intp)], [np.empty(0)], [np.empty(0)]
        for k, column in enumerate(X.T):
            values = np.unique(column)
            if len(values) < 2:
                continue
            levels = self.levels or min(max(int(np.log2(len(values))), 1), MAX_LEVELS)
            for pieces in (2**level for level in range(levels)):
                h = (values[-1] - values[0]) / pieces
                # Centres of all whose support, degree + 1 pieces wide, overlaps the range.
                centres = values[0] + h * (np.arange(pieces + self.degree) - 0.5 * (self.degree - 1))
                inputs.append(np.full(len(centres), k, np.intp))
                places.append(centres)
                spans.append(np.full(len(centres), h))
        return SplineFunctions(self.degree, np.concatenate(inputs), np.concatenate(places), np.concatenate(spans))


@dataclass(frozen=True, eq=False)
class SplineFunctions:
    """B((x_k - c) / h): `inputs` (M,), `places` c (M,) and `spans` h (M,)."""

    degree: int
    inputs: Indices
    places: Array
    spans: Array

    @property
    def size(self) -> int:
        """M."""
        return len(self.inputs)

    def __call__(self, X: Array, chosen: Indices) -> Array:
        """The chosen splines at X (N, d): (N, number chosen)."""
        knots = np.arange(self.degree + 2) - 0.5 * (self.degree + 1)
        centred = scipy.interpolate.BSpline.basis_element(knots, extrapolate=False)
        U = (X[:, self.inputs[chosen]] - self.places[chosen]) / self.spans[chosen]
        return np.nan_to_num(np.asarray(centred(U), np.float64), nan=0.0)

    def take(self, chosen: Indices) -> "SplineFunctions":
        """Only the chosen splines, in that order."""
        return SplineFunctions(self.degree, self.inputs[chosen], self.places[chosen], self.spans[chosen])

    def shape(self, number: int) -> Shape:
        """Centre of one spline, and the distance of its knots."""
        return Shape("b_spline", (int(self.inputs[number]),), (float(self.places[number]),), float(self.spans[number]))
