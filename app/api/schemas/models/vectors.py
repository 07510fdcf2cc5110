"""The functions that a version keeps, as they go out."""

from collections.abc import Mapping, Sequence
from typing import Self

from pydantic import Field

from app.api.schemas.jobs import FromDomain
from relevance_bayes.documents.models import FunctionName, RelevanceVector
from relevance_bayes.types.values import Cell, Label


class ClassWeightOut(FromDomain):
    """The mean of a function's weight in the latent of one class."""

    label: Label
    mean: float


class InputShapeOut(FromDomain):
    """How a function lies in one input, in the input's units."""

    input: str
    location: float | None = Field(
        description="Where it stands: a jump, a centre, or where a wave's phase counts from."
    )
    scale: float | None = Field(description="How far it spreads: the distance of a spline's knots, a wavelet's s.")
    frequency: float | None = Field(description="Cycles per unit.")


class RelevanceVectorOut(FromDomain):
    """One function that a version keeps: a kernel on a row, the bias, an input itself, or one of a dictionary."""

    number: int
    kind: str = Field(description="The kernel's type, `bias`, `input`, `step`, `wave`, `b_spline` or `wavelet`.")
    row: int | None = Field(description="The row of the dataset that a kernel stands on, from 0.")
    inputs: Mapping[str, Cell] | None = Field(description="That row's inputs, in the user's units.")
    input: str | None = Field(
        description="Which input it is, or is a function of; `colour=red` is 1 for that category, else 0."
    )
    shape: Sequence[InputShapeOut] = Field(
        description="For functions of a dictionary, what they look like in each input that they see. Else empty."
    )
    phase: float | None = Field(description="Of a wave or wavelet, in cycles: 0 is a cosine, 0.25 a sine.")
    optimised: bool = Field(description="Whether the kernel has left its row, to stand where it explains more.")
    weight_mean: float | None = Field(
        description="In the units of the function that is learned: the target's under `gaussian` and `student_t`, of "
        "its logarithm under `log_gaussian`, of the log rate under `poisson`, of the latent of classes. Null where "
        "there is one for each class."
    )
    weight_means: Sequence[ClassWeightOut] = Field(
        description="Of three and more classes, one for each; they share `weight_sd`, `alpha` and `gamma`. Else empty."
    )
    weight_sd: float = Field(description="In the same units.")
    alpha: float = Field(description="The precision of the weight's prior, in one over the square of these units.")
    gamma: float = Field(description="How well the data determine the weight, from 0 to 1.")
    member: int | None = Field(
        description="Which of the version's `members` it is part of, from 1; null where one model predicts."
    )
    function: FunctionName = Field(
        description="`mean`; or `log_noise`, the logarithm of a noise variance that depends on the inputs, in which "
        "its weight is measured then."
    )

    @classmethod
    def of(cls, vector: RelevanceVector) -> Self:
        """A function as it goes out."""
        return cls.model_validate(vector)
