"""Predictions as OpenAPI shows them; the answers themselves are written by app.api.answers, without detours."""

from collections.abc import Sequence

from pydantic import BaseModel, Field

from app.api.schemas.problems import PlaceOut
from app.domain.tables import Label


class VarianceOut(BaseModel):
    """A prediction's variance and its three parts, in the target's units squared."""

    total: float = Field(description="The sum of the others.")
    noise: float = Field(description="How far a new observation scatters about the function.")
    weights: float = Field(description="What is not known of the weights of the functions in the model.")
    beyond: float = Field(
        description="What these functions don't reach of the Gaussian process that they are part of: it grows with the "
        "distance from the data. 0 under independent weights."
    )


class RealOut(BaseModel):
    """A number, as a Gaussian; `lower` and `upper` enclose it with the probability `interval`."""

    mean: float
    sd: float
    variance: VarianceOut
    lower: float
    upper: float


class ClassProbabilityOut(BaseModel):
    """How probable a class is."""

    label: Label
    probability: float


class LatentOut(BaseModel):
    """The latent function's Gaussian, before the sigmoid."""

    mean: float
    variance: float


class ClassOut(BaseModel):
    """A class: the more probable one, and how probable each is."""

    label: Label
    probabilities: Sequence[ClassProbabilityOut]
    latent: LatentOut


class RowProblemOut(BaseModel):
    """Why a row has no prediction."""

    type: str
    title: str
    status: int
    detail: str
    errors: Sequence[PlaceOut]


class RowErrorOut(BaseModel):
    """Stands in the place of a bad row with `"on_error": "per_row"`."""

    error: RowProblemOut


class PredictionsOut(BaseModel):
    """One prediction for each row, in their order."""

    model: str
    version: int
    predictions: Sequence[RealOut | ClassOut | RowErrorOut] = Field(description="Only with the members of `outputs`.")
