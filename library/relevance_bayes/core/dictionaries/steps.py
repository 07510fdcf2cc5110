"""Heaviside steps, for signals with jumps."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from relevance_bayes.core.dictionaries.shapes import Shape
from relevance_bayes.core.types import Array, Indices


@dataclass(frozen=True)
class Steps:
    """phi(x) = 1 where x_k >= c, else 0: for each input k one for each place c between two values of the rows."""

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["steps"] = "steps"

    def functions(self, X: Array) -> "StepFunctions":
        """Halfway between each two neighbours among the distinct values of each column of X (N, d)."""
        values = [np.unique(column) for column in X.T]
        inputs = [np.full(max(len(one) - 1, 0), k, np.intp) for k, one in enumerate(values)]
        # The mean of two floats next to each other may be the lower one, which would then be on the wrong side.
        places = [np.maximum(0.5 * one[:-1] + 0.5 * one[1:], np.nextafter(one[:-1], np.inf)) for one in values]
        return StepFunctions(np.concatenate(inputs), np.concatenate(places))


@dataclass(frozen=True, eq=False)
class StepFunctions:
    """1 where the input k reaches c: `inputs` (M,) and `places` (M,)."""

    inputs: Indices
    places: Array

    @property
    def size(self) -> int:
        """M."""
        return len(self.inputs)

    def __call__(self, X: Array, chosen: Indices) -> Array:
        """The chosen steps at X (N, d): (N, number chosen)."""
        return np.asarray((X[:, self.inputs[chosen]] >= self.places[chosen]).astype(np.float64))

    def take(self, chosen: Indices) -> "StepFunctions":
        """Only the chosen steps, in that order."""
        return StepFunctions(self.inputs[chosen], self.places[chosen])

    def shape(self, number: int) -> Shape:
        """The place of one step."""
        return Shape("step", (int(self.inputs[number]),), (float(self.places[number]),))
