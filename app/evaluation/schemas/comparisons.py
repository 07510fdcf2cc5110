"""The OpenAPI schemas of two versions on the same rows; responses are written by `app.evaluation.comparison_codec`."""

from collections.abc import Sequence

from pydantic import BaseModel, Field

from app.prediction.schemas.predictions import ValueOut
from relevance_bayes.types.jobs import VersionName
from relevance_bayes.types.predictions import ClassProbability
from relevance_bayes.types.values import Label


class ComparedNumberOut(BaseModel):
    """A number as one version predicts it."""

    mean: float
    sd: float


class NumbersRowOut(BaseModel):
    """The predictions of two versions for a row."""

    first: ComparedNumberOut | ValueOut
    second: ComparedNumberOut | ValueOut
    difference: float = Field(description="The second's mean (or value) less the first's.")


class ComparedClassOut(BaseModel):
    """A class as one version predicts it; a class that only the other one knows has the probability 0."""

    label: Label
    probabilities: Sequence[ClassProbability]


class ClassesRowOut(BaseModel):
    """The predictions of two versions for a row."""

    first: ComparedClassOut
    second: ComparedClassOut
    total_variation: float = Field(
        description="Half the sum of the probabilities' absolute differences: 0 where they agree, 1 where they exclude "
        "each other."
    )


class LargestDifferenceOut(BaseModel):
    """The row, from 0, where two versions are farthest apart."""

    row: int
    difference: float


class LargestVariationOut(BaseModel):
    """The row, from 0, where two versions disagree most."""

    row: int
    total_variation: float


class NumbersSummaryOut(BaseModel):
    """Over all rows; null where there are none."""

    rows: int
    mean_difference: float | None = Field(description="Above 0 where the second one's answers are greater on average.")
    mean_absolute_difference: float | None
    largest: LargestDifferenceOut | None


class ClassesSummaryOut(BaseModel):
    """Over all rows; null where there are none."""

    rows: int
    labels_differ: int = Field(description="Rows whose most probable class is another one.")
    mean_total_variation: float | None
    largest: LargestVariationOut | None


class NumbersComparisonOut(BaseModel):
    """Two versions of numbers."""

    first: VersionName
    second: VersionName
    summary: NumbersSummaryOut
    rows: Sequence[NumbersRowOut]


class ClassesComparisonOut(BaseModel):
    """Two versions of classes."""

    first: VersionName
    second: VersionName
    summary: ClassesSummaryOut
    rows: Sequence[ClassesRowOut]
