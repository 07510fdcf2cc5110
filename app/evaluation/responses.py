"""The OpenAPI schemas of comparisons; `app.evaluation.comparison_codec` writes the responses."""

from collections.abc import Sequence
from typing import TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from app.prediction.responses import ValueOut
from relevance_bayes.records.jobs import VersionName
from relevance_bayes.records.predictions import ClassProbability
from relevance_bayes.records.references import Reference, VersionSelector
from relevance_bayes.records.values import Cell, Label


class VersionIn(BaseModel):
    """A version of a model, by number or alias."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    version: VersionSelector | None = Field(None, description="Default: the newest version.")


class CompareOptions(BaseModel):
    """The options of a comparison, beside the table."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    other: str | VersionIn = Field(
        alias="with", description="The second version: `model@alias`, `model@3`, `model` for the newest, or an object."
    )

    @property
    def reference(self) -> Reference:
        """Return the reference to the second version; raises NotFoundError where it can name no version."""
        if isinstance(self.other, str):
            return Reference.read(self.other)
        return Reference(self.other.model, self.other.version)


class CompareColumnsIn(CompareOptions):
    """A table as columns."""

    columns: dict[str, list[Cell]]


class CompareRecordsIn(CompareOptions):
    """A table as rows, each an object by column names."""

    rows: list[dict[str, Cell]]


class CompareArraysIn(CompareOptions):
    """A table as rows of cells, with the column names once."""

    names: list[str]
    rows: list[list[Cell]]


CompareIn: TypeAlias = CompareColumnsIn | CompareRecordsIn | CompareArraysIn
COMPARE_IN: TypeAdapter[CompareIn] = TypeAdapter(CompareIn)
"""The three forms of a table, for the OpenAPI document only: app.formats reads tables, and locates faults in them."""


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


class _Summary(BaseModel):
    """The number of rows that a summary is of."""

    rows: int


class NumbersSummaryOut(_Summary):
    """Figures over all rows; null without rows."""

    mean_difference: float | None = Field(description="Above 0 where the second version predicts more on average.")
    mean_absolute_difference: float | None
    largest: LargestDifferenceOut | None


class ClassesSummaryOut(_Summary):
    """Figures over all rows; null without rows."""

    labels_differ: int = Field(description="The number of rows whose most probable class differs.")
    mean_total_variation: float | None
    largest: LargestVariationOut | None


class _Comparison(BaseModel):
    """The two versions of a comparison."""

    first: VersionName
    second: VersionName


class NumbersComparisonOut(_Comparison):
    """A comparison of two versions of numbers."""

    summary: NumbersSummaryOut
    rows: Sequence[NumbersRowOut]


class ClassesComparisonOut(_Comparison):
    """A comparison of two versions of classes."""

    summary: ClassesSummaryOut
    rows: Sequence[ClassesRowOut]
