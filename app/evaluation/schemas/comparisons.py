"""The OpenAPI schemas of comparisons; `app.evaluation.comparison_codec` writes the responses."""

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
    difference: float = Field(description="The mean (or value) of the second version less that of the first.")


class ComparedClassOut(BaseModel):
    """The probability of a class as one version predicts it; 0 for a class that only the other version knows."""

    label: Label
    probabilities: Sequence[ClassProbability]


class ClassesRowOut(BaseModel):
    """The predictions of two versions for a row."""

    first: ComparedClassOut
    second: ComparedClassOut
    total_variation: float = Field(
        description="The total variation distance: half the sum of the absolute differences of the probabilities, from "
        "0 (equal) to 1."
    )


class LargestDifferenceOut(BaseModel):
    """The row, from 0, with the greatest difference."""

    row: int
    difference: float


class LargestVariationOut(BaseModel):
    """The row, from 0, with the greatest total variation."""

    row: int
    total_variation: float


class NumbersSummaryOut(BaseModel):
    """Figures over all rows; null without rows."""

    rows: int
    mean_difference: float | None = Field(description="Above 0 where the second version predicts more on average.")
    mean_absolute_difference: float | None
    largest: LargestDifferenceOut | None


class ClassesSummaryOut(BaseModel):
    """Figures over all rows; null without rows."""

    rows: int
    labels_differ: int = Field(description="The number of rows whose most probable class differs.")
    mean_total_variation: float | None
    largest: LargestVariationOut | None


class NumbersComparisonOut(BaseModel):
    """A comparison of two versions of numbers."""

    first: VersionName
    second: VersionName
    summary: NumbersSummaryOut
    rows: Sequence[NumbersRowOut]


class ClassesComparisonOut(BaseModel):
    """A comparison of two versions of classes."""

    first: VersionName
    second: VersionName
    summary: ClassesSummaryOut
    rows: Sequence[ClassesRowOut]
