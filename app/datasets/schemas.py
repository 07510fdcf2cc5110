"""The API's schemas of datasets."""

from typing import TypeAlias

from pydantic import BaseModel, TypeAdapter

from app.datasets import records as domain
from relevance_bayes.records.datasets import (
    BooleanColumn,
    CategoryColumn,
    CategoryCount,
    Column,
    Dataset,
    Image,
    NumberColumn,
    Quantile,
    TimestampColumn,
    TimestampQuantile,
)
from relevance_bayes.records.values import Cell
from relevance_bayes.tables.columns import ColumnSummary
from relevance_bayes.tables.kinds import iso_8601
from relevance_bayes.tables.moments import LEVELS


class ColumnsIn(BaseModel):
    """A table as columns."""

    columns: dict[str, list[Cell]]


class RecordsIn(BaseModel):
    """A table as rows, each an object by column names."""

    rows: list[dict[str, Cell]]


class ArraysIn(BaseModel):
    """A table as rows of cells, with the column names once."""

    names: list[str]
    rows: list[list[Cell]]


DatasetIn: TypeAlias = ColumnsIn | RecordsIn | ArraysIn
DATASET_IN: TypeAdapter[DatasetIn] = TypeAdapter(DatasetIn)
"""The three forms of a table, for the OpenAPI document only: app.formats reads them."""


def column_record(column: ColumnSummary, rows: int) -> Column:
    """Return the API's form of a column of a table with so many rows, by its kind."""
    name, missing, distinct = column.name, column.missing, column.distinct
    low, mean, high, sd = column.minimum, column.mean, column.maximum, column.sd
    match column.kind:
        case "number":
            return NumberColumn(
                name=name,
                reading=column.reading,
                kind="number",
                missing=missing,
                distinct=distinct,
                min=low,
                mean=mean,
                max=high,
                sd=sd,
                quantiles=tuple(map(Quantile, LEVELS, column.quantiles)),
                histogram=column.histogram,
            )
        case "boolean":
            return BooleanColumn(
                name=name,
                reading=column.reading,
                kind="boolean",
                missing=missing,
                distinct=distinct,
                min=low,
                mean=mean,
                max=high,
                sd=sd,
            )
        case "timestamp":
            return TimestampColumn(
                name=name,
                reading=column.reading,
                kind="timestamp",
                missing=missing,
                distinct=distinct,
                min=_moment(low),
                mean=_moment(mean),
                max=_moment(high),
                sd=sd,
                quantiles=tuple(map(TimestampQuantile, LEVELS, map(iso_8601, column.quantiles))),
                histogram=column.histogram,
            )
        case "category":
            counts = tuple(CategoryCount(label, count) for label, count in column.categories)
            other = rows - missing - sum(one.count for one in counts)
            return CategoryColumn(
                name=name,
                reading=column.reading,
                kind="category",
                missing=missing,
                distinct=distinct,
                categories=counts,
                other=other,
            )


def _moment(seconds: float | None) -> str | None:
    return None if seconds is None else iso_8601(seconds)


def dataset_record(dataset: domain.Dataset) -> Dataset:
    """Return the API's form of a dataset."""
    return Dataset(
        id=str(dataset.id),
        name=dataset.name,
        created_at=dataset.created_at,
        digest=dataset.digest,
        rows=dataset.rows,
        columns=tuple(column_record(column, dataset.rows) for column in dataset.columns),
        image=None if dataset.image is None else Image(height=dataset.image.height, width=dataset.image.width),
    )
