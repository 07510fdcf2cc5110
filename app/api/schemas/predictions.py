"""Predictions as OpenAPI shows them; the answers themselves are written by app.api.render, without detours."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, Field

from relevance_bayes.types.errors import Fault
from relevance_bayes.types.values import Label


class VarianceOut(BaseModel):
    """A prediction's variance and its three parts, in the target's units squared."""

    total: float = Field(description="The sum of the others.")
    noise: float = Field(
        description="How far a new observation scatters about the function. Where the noise of each row is known, the "
        "square of the row's own, or, where the table has no such column, the mean square of the rows learned from."
    )
    weights: float = Field(description="What is not known of the weights of the functions in the model.")
    residual: float = Field(
        description="What these functions don't reach: of the Gaussian process that they are part of, or, under "
        "independent weights and Gaussian noise, of a further function at the point. It grows with the distance from "
        "the data; 0 where the model can't tell."
    )


Support = Annotated[
    float | None,
    Field(
        description="How far the data speak for this point, from 0 to 1. 1: they do; near 0: it lies away from all "
        "that the model has seen, and the answer falls back to the average. Null where the model can't tell."
    ),
]


class ContributionOut(BaseModel):
    """What one function of the model adds to a prediction."""

    vector: int = Field(description="Its number in the version's list of relevance vectors, from 1.")
    kind: str = Field(description="The kernel's type, `bias`, or `input` for an input itself.")
    row: int | None = Field(description="The row of the dataset that the kernel stands on, or next to.")
    input: str | None = Field(description="The input that it is.")
    contribution: float = Field(
        description="What it adds: in the target's units, or in those of the latent function where that is another "
        "(of classes, counts, and logarithms). Of three and more classes, the latent is that of the class answered as "
        "`label`. `explanation_sum` has what is added besides."
    )
    share: float = Field(description="Its size's share of the sum of all functions' sizes, from 0 to 1.")


Explanation = Annotated[
    Sequence[ContributionOut] | None,
    Field(description="With `explain`: the functions that add most, the greatest first. Left out without it."),
]


class ExplanationSumOut(BaseModel):
    """What a prediction is the sum of: `baseline`, all contributions of its `explanation`, and `others` are `mean`."""

    baseline: float = Field(
        description="The mean where all functions add nothing: the average that targets are measured from. 0 for "
        "classes, counts, and where the noise is given; of the logarithm under `log_gaussian`."
    )
    others: float = Field(description="What all functions add that the `explanation` does not name.")
    mean: float = Field(
        description="The mean of the function that is learned: the prediction's `mean` under `gaussian` and "
        "`student_t`; of the target's logarithm under `log_gaussian`, of the log rate under `poisson`, of the `latent` "
        "of classes, where each class has one that of the class answered as `label`."
    )


ExplanationSum = Annotated[
    ExplanationSumOut | None,
    Field(description="With `explain`: what the contributions add up to. Left out without it."),
]


class RealOut(BaseModel):
    """A number, as a Gaussian; `lower` and `upper` enclose it with the probability `interval`."""

    mean: float
    sd: float
    variance: VarianceOut
    lower: float
    upper: float
    support: Support
    explanation: Explanation = None
    explanation_sum: ExplanationSum = None


class ClassProbabilityOut(BaseModel):
    """How probable a class is."""

    label: Label
    probability: float


class LatentOut(BaseModel):
    """The latent function's Gaussian, before the sigmoid."""

    mean: float
    variance: float


class ClassLatentOut(BaseModel):
    """The Gaussian of one class's latent function; all share the variance, but with a model for each class."""

    label: Label
    mean: float
    variance: float


class DecisionOut(BaseModel):
    """What to do about a row, by its probabilities and what decisions cost."""

    label: Label | None = Field(
        description="The class of least expected cost, of equal ones the last in `classes`; null where each is "
        "expected to cost more than `reject_cost`."
    )
    expected_cost: float = Field(
        description="The mean of `costs[truth][decision]` over how probable each truth is; of a row that is left "
        "undecided, the `reject_cost`."
    )


class ClassOut(BaseModel):
    """A class: the most probable one, and how probable each is."""

    label: Label
    probabilities: Sequence[ClassProbabilityOut] = Field(
        description="As frequent as classes were among the rows learned from, or as `class_priors` says."
    )
    latent: LatentOut | Sequence[ClassLatentOut] = Field(
        description="One for two classes; of three and more, one for each."
    )
    support: Support
    explanation: Explanation = None
    explanation_sum: ExplanationSum = None
    decision: DecisionOut | None = Field(
        None, description="With `class_priors`, `costs` or `reject_cost`. Left out without them."
    )


class ValueOut(BaseModel):
    """The value of a known function."""

    value: float


class ComponentsRowOut(BaseModel):
    """Where a row lies in the kernel's space, and how new it is."""

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
    """Why a row has no prediction."""

    type: str
    title: str
    status: int
    detail: str
    errors: Sequence[Fault]


class RowErrorOut(BaseModel):
    """Stands in the place of a bad row with `"on_error": "per_row"`."""

    error: RowProblemOut


class PredictionsOut(BaseModel):
    """One prediction for each row, in their order."""

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
