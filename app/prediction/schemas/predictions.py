"""OpenAPI schemas of predictions; responses are written by app.prediction.render."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, Field

from relevance_bayes.types.errors import Fault
from relevance_bayes.types.predictions import (
    ClassLatent,
    ClassProbability,
    Contribution,
    Decision,
    ExplanationSum,
    Latent,
    Variance,
)
from relevance_bayes.types.values import Label

Support = Annotated[
    float | None,
    Field(
        description="How far the data speak for this point, from 0 to 1. 1: they do; near 0: it lies away from all "
        "that the model has seen, and the answer falls back to the average. Null where the model can't tell."
    ),
]


Explanation = Annotated[
    Sequence[Contribution] | None,
    Field(description="With `explain`: the functions that add most, the greatest first. Left out without it."),
]


ExplainedSum = Annotated[
    ExplanationSum | None,
    Field(description="With `explain`: what the contributions add up to. Left out without it."),
]


class RealOut(BaseModel):
    """A number, as a Gaussian; `lower` and `upper` enclose it with the probability `interval`."""

    mean: float
    sd: float
    variance: Variance
    lower: float
    upper: float
    support: Support
    explanation: Explanation = None
    explanation_sum: ExplainedSum = None


class ClassOut(BaseModel):
    """A class: the most probable one, and the probabilities of all."""

    label: Label
    probabilities: Sequence[ClassProbability] = Field(
        description="As frequent as classes were among the rows learned from, or as `class_priors` says."
    )
    latent: Latent | Sequence[ClassLatent] = Field(description="One for two classes; of three and more, one for each.")
    support: Support
    explanation: Explanation = None
    explanation_sum: ExplainedSum = None
    decision: Decision | None = Field(
        None, description="With `class_priors`, `costs` or `reject_cost`. Left out without them."
    )


class ValueOut(BaseModel):
    """The value of a known function."""

    value: float


class ComponentsRowOut(BaseModel):
    """The principal components of a row in feature space, and its novelty."""

    components: Sequence[float] = Field(
        description="The first principal components, that of greatest variance first: as many as `components` says, "
        "or 10, or all there are."
    )
    reconstruction_error: float = Field(
        description="The share of the row's image that these components don't reach, from 0 to 1."
    )
    log_density: float = Field(
        description="The log likelihood of the row's image, by all components, in nats and up to a constant. The "
        "lower, the newer; it compares rows by one version, not versions."
    )
    novelty: float = Field(
        description="The share of rows like those learned from whose log density is above, from 0 to 1: of usual rows "
        "one in twenty is above 0.95, and at 1 a row is newer than all."
    )


class RowProblemOut(BaseModel):
    """The problem of a row without a prediction."""

    type: str
    title: str
    status: int
    detail: str
    errors: Sequence[Fault]


class RowErrorOut(BaseModel):
    """An invalid row with `"on_error": "per_row"`, in place of its prediction."""

    error: RowProblemOut


class PredictionsOut(BaseModel):
    """The predictions, one for each row, in their order."""

    model: str
    version: int
    predictions: Sequence[RealOut | ClassOut | ValueOut | ComponentsRowOut | RowErrorOut] = Field(
        description="Only with the members of `outputs`."
    )
    covariance: Sequence[Sequence[float | None]] | None = Field(
        None,
        description="With `covariance`: how far the errors of each two answers go together, in the target's units "
        "squared. The diagonal is `variance.total`, so that the variance of a sum of answers is the sum of all "
        "entries. Null in the rows and columns of rows that have no prediction. Left out without it.",
    )
