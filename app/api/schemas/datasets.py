"""Datasets as they come and go."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Literal, Self, TypeAlias
from uuid import UUID

from pydantic import BaseModel, Field, TypeAdapter

from app.domain.datasets import Dataset
from app.services.catalogue import Row
from relevance_bayes.tables.columns import ColumnSummary
from relevance_bayes.tables.kinds import iso_8601
from relevance_bayes.types.values import Cell


class ColumnsIn(BaseModel):
    """A table by columns."""

    columns: dict[str, list[Cell]]


class RecordsIn(BaseModel):
    """A table by rows, each naming its columns."""

    rows: list[dict[str, Cell]]


class ArraysIn(BaseModel):
    """A table by rows, the columns named once."""

    names: list[str]
    rows: list[list[Cell]]


DatasetIn: TypeAlias = ColumnsIn | RecordsIn | ArraysIn
DATASET_IN: TypeAdapter[DatasetIn] = TypeAdapter(DatasetIn)
"""The three forms of a table, for OpenAPI alone: app.formats reads them."""


class SummaryOut(BaseModel):
    """What every column has."""

    name: str
    missing: int = Field(description="How many rows have no value here.")
    distinct: int | None = Field(description="How many different values there are; null above 50 or for long texts.")


class NumberOut(SummaryOut):
    """A column of numbers; null where none is present."""

    kind: Literal["number"]
    min: float | None
    mean: float | None
    max: float | None
    sd: float | None = Field(description="Of the values present, divided by their number.")


class BooleanOut(SummaryOut):
    """A column of true and false, counted as 1 and 0."""

    kind: Literal["boolean"]
    min: float | None
    mean: float | None = Field(description="The share that is true.")
    max: float | None
    sd: float | None


class TimestampOut(SummaryOut):
    """A column of points in time, ISO 8601 in UTC."""

    kind: Literal["timestamp"]
    min: str | None
    mean: str | None
    max: str | None
    sd: float | None = Field(description="In seconds.")


class CategoryCountOut(BaseModel):
    """A text, and in how many rows it stands."""

    label: str
    count: int


class CategoryOut(SummaryOut):
    """A column of texts."""

    kind: Literal["category"]
    categories: Sequence[CategoryCountOut] = Field(
        description="The most frequent first, at most 50; empty where there are too many or too long ones to count."
    )


ColumnOut: TypeAlias = Annotated[NumberOut | BooleanOut | TimestampOut | CategoryOut, Field(discriminator="kind")]


def column_out(column: ColumnSummary) -> NumberOut | BooleanOut | TimestampOut | CategoryOut:
    """A column as its kind is shown."""
    name, missing, distinct = column.name, column.missing, column.distinct
    low, mean, high, sd = column.minimum, column.mean, column.maximum, column.sd
    match column.kind:
        case "number":
            return NumberOut(
                name=name, kind="number", missing=missing, distinct=distinct, min=low, mean=mean, max=high, sd=sd
            )
        case "boolean":
            return BooleanOut(
                name=name, kind="boolean", missing=missing, distinct=distinct, min=low, mean=mean, max=high, sd=sd
            )
        case "timestamp":
            return TimestampOut(
                name=name,
                kind="timestamp",
                missing=missing,
                distinct=distinct,
                min=_moment(low),
                mean=_moment(mean),
                max=_moment(high),
                sd=sd,
            )
        case "category":
            counts = [CategoryCountOut(label=label, count=count) for label, count in column.categories]
            return CategoryOut(name=name, kind="category", missing=missing, distinct=distinct, categories=counts)


def _moment(seconds: float | None) -> str | None:
    return None if seconds is None else iso_8601(seconds)


class ImageOut(BaseModel):
    """So many lines of so many pixels."""

    height: int
    width: int


class DatasetOut(BaseModel):
    """A table or an image that was uploaded; it never changes."""

    id: UUID
    name: str
    created_at: datetime
    digest: str = Field(description="SHA-256 of the typed content: the same table has the same, however it came.")
    rows: int
    columns: Sequence[ColumnOut]
    image: ImageOut | None = Field(
        description="Of an image: its size. It has a row for each pixel, line after line. Null for a table."
    )

    @classmethod
    def of(cls, dataset: Dataset) -> Self:
        """As its owner sees it."""
        return cls(
            id=dataset.id,
            name=dataset.name,
            created_at=dataset.created_at,
            digest=dataset.digest,
            rows=dataset.rows,
            columns=[column_out(column) for column in dataset.columns],
            image=None if dataset.image is None else ImageOut(height=dataset.image.height, width=dataset.image.width),
        )


class RowOut(BaseModel):
    """A row, by its number from 0."""

    row: int
    cells: Mapping[str, Cell]

    @classmethod
    def of(cls, row: Row) -> Self:
        """As it was uploaded."""
        return cls(row=row.number, cells=row.cells)
