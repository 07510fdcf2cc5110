"""OpenAPI schemas of predictions; responses are written by app.prediction.json_codec."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, Field

from relevance_bayes.records.errors import Fault, ProblemDetails
from relevance_bayes.records.predictions import (
    ClassLatent,
    ClassProbability,
    Contribution,
    Decision,
    ExplanationSum,
    Latent,
    MissingValue,
    UnknownCategory,
    Variance,
)
from relevance_bayes.records.values import Label

Support = Annotated[
    float | None,
    Field(
        description="The support of the training data, from 0 to 1. Near 0, the point is far from all training rows, "
        "and the prediction falls back to the average. Null where the model can't determine it."
    ),
]


Explanation = Annotated[
    Sequence[Contribution] | None,
    Field(description="With `explain`: the functions with the largest contributions, in descending order."),
]


ExplainedSum = Annotated[
    ExplanationSum | None,
    Field(description="With `explain`: the sum of all contributions."),
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
        description="Under the frequencies of classes in the training rows, or under `class_priors`."
    )
    latent: Latent | Sequence[ClassLatent] = Field(description="One for two classes; for three and more, one each.")
    support: Support
    explanation: Explanation = None
    explanation_sum: ExplainedSum = None
    decision: Decision | None = Field(
        None, description="With `class_priors`, `costs` or `reject_cost`; otherwise absent."
    )


class ValueOut(BaseModel):
    """The value of a known function."""

    value: float


class ComponentsRowOut(BaseModel):
    """The principal components of a row in feature space, and its novelty."""

    components: Sequence[float] = Field(
        description="The first principal components, by descending variance: at most `components`, by default 10."
    )
    reconstruction_error: float = Field(
        description="The share of the row's image that is not in these components, from 0 to 1."
    )
    log_density: float = Field(
        description="The log likelihood of the row's image, from all components, in nats and up to a constant. "
        "Comparable between rows, not between versions."
    )
    novelty: float = Field(
        description="The share of rows like the training rows with a higher log density, from 0 to 1: of such rows "
        "one in twenty is above 0.95."
    )


@dataclass(frozen=True, kw_only=True)
class RowProblemOut(ProblemDetails):
    """The problem of a row without a prediction."""

    status: int
    errors: Sequence[Fault]


class RowErrorOut(BaseModel):
    """An invalid row with `"on_error": "per_row"`, in place of its prediction."""

    error: RowProblemOut


class PredictionsOut(BaseModel):
    """The predictions, one for each row, in their order."""

    model: str
    version: int
    predictions: Sequence[RealOut | ClassOut | ValueOut | ComponentsRowOut | RowErrorOut] = Field(
        description="With the members in `outputs`."
    )
    unknown_categories: Sequence[UnknownCategory] | None = Field(
        None,
        description="The cells with categories that no training row had, whose rows are predicted as averages over the "
        "known categories: the first 100, by row. Absent if there are none.",
    )
    nulls: Sequence[MissingValue] | None = Field(
        None,
        description="The cells without a value, whose rows are predicted as averages over values of training rows: the "
        "first 100, by row. Absent if there are none.",
    )
    covariance: Sequence[Sequence[float | None]] | None = Field(
        None,
        description="With `covariance`: the covariance of the errors of each two predictions, in the target's units "
        "squared. The diagonal is `variance.total`, so that the variance of a sum of predictions is the sum of all "
        "entries. Null in the rows and columns of rows without a prediction.",
    )
