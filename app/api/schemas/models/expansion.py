"""A version as a sum of Gaussians, as it goes out."""

from collections.abc import Sequence
from typing import Self

from pydantic import BaseModel, Field

from app.services.prediction import VersionExpansion


class ExpansionOut(BaseModel):
    """f(x) = constant + sum_j weights_j exp(-sum_k ((x_k - centres_jk) / widths_jk)^2)."""

    inputs: Sequence[str]
    centres: Sequence[Sequence[float]] = Field(description="Of each term, a number for each of the inputs.")
    widths: Sequence[Sequence[float]] = Field(description="Of each term, a number for each of the inputs.")
    weights: Sequence[float] = Field(description="Of each term.")
    constant: float

    @classmethod
    def of(cls, expansion: VersionExpansion) -> Self:
        """A function as it goes out."""
        return cls(
            inputs=expansion.inputs,
            centres=expansion.centres.tolist(),
            widths=expansion.widths.tolist(),
            weights=expansion.weights.tolist(),
            constant=expansion.constant,
        )
