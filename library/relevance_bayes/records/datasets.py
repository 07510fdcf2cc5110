"""Uploaded tables and images, and their columns."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Literal, TypeAlias

from relevance_bayes.records.annotations import Id, OneOf, is_none, wire
from relevance_bayes.records.html import table_html
from relevance_bayes.records.values import CategoryCount, Cell, NumberForm


@dataclass(frozen=True)
class ColumnsIn:
    """A table as columns."""

    columns: dict[str, tuple[Cell, ...]]


@dataclass(frozen=True)
class RecordsIn:
    """A table as rows, each an object by column names."""

    rows: tuple[dict[str, Cell], ...]


@dataclass(frozen=True)
class ArraysIn:
    """A table as rows of cells, with the column names once."""

    names: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


DatasetIn: TypeAlias = ColumnsIn | RecordsIn | ArraysIn


@dataclass(frozen=True)
class MissingText:
    """A text that means a missing value, and the number of rows with it."""

    __pydantic_config__ = wire()

    text: str
    count: int


@dataclass(frozen=True, kw_only=True)
class ColumnReading:
    """The reading of a column of a file, beside its kind."""

    __pydantic_config__ = wire()

    form: NumberForm | None = field(default=None, metadata={"exclude_if": is_none})
    """The form of numbers with a unit or separators."""
    date_format: str | None = field(default=None, metadata={"exclude_if": is_none})
    """The format of dates other than ISO 8601."""
    missing_texts: tuple[MissingText, ...] | None = field(default=None, metadata={"exclude_if": is_none})
    """The texts that were read as missing, the most frequent first; empty cells are not among them."""
    given_name: str | None = field(default=None, metadata={"exclude_if": is_none})
    """The name in the file, where the column has another: it was there twice, too long or had a line break."""
    is_index: bool | None = field(default=None, metadata={"exclude_if": is_none})
    """True for an index of pandas, which is no input by default."""
    has_header: bool | None = field(default=None, metadata={"exclude_if": is_none})
    """False where the first line was read as a row, so that the column has no name of its own."""


@dataclass(frozen=True, kw_only=True)
class ColumnBase:
    """The members of all columns."""

    __pydantic_config__ = wire()

    name: str
    missing: int
    """The number of rows without a value."""
    distinct: int | None
    """The number of distinct values; null above 50 or for long texts."""
    reading: ColumnReading | None = field(default=None, metadata={"exclude_if": is_none})
    """The reading of the column's texts, where its kind is not all."""


@dataclass(frozen=True)
class Quantile:
    """A quantile of a column: the least value that the share `level` of the rows with a value does not exceed."""

    __pydantic_config__ = wire()

    level: float
    value: float


@dataclass(frozen=True)
class TimestampQuantile:
    """A quantile of points in time."""

    __pydantic_config__ = wire()

    level: float
    value: str


@dataclass(frozen=True, kw_only=True)
class NumberColumn(ColumnBase):
    """A column of numbers; members are null where no value is present."""

    kind: Literal["number"]
    min: float | None
    mean: float | None
    max: float | None
    sd: float | None
    """The population standard deviation."""
    quantiles: tuple[Quantile, ...] = ()
    """At fixed levels: exact below 4,096 values (of more than 64 columns below fewer, at least 256), else wrong by less
    than 0.3 percent of the rows (4 percent). Empty without values."""
    histogram: tuple[int, ...] = ()
    """The number of rows in at most 32 bins of equal width from `min` to `max`, as exact as `quantiles`. Empty without
    values."""


@dataclass(frozen=True, kw_only=True)
class BooleanColumn(ColumnBase):
    """A column of true and false, counted as 1 and 0."""

    kind: Literal["boolean"]
    min: float | None
    mean: float | None
    """The share of true."""
    max: float | None
    sd: float | None


@dataclass(frozen=True, kw_only=True)
class TimestampColumn(ColumnBase):
    """A column of points in time, ISO 8601 in UTC."""

    kind: Literal["timestamp"]
    min: str | None
    mean: str | None
    max: str | None
    sd: float | None
    """In seconds."""
    quantiles: tuple[TimestampQuantile, ...] = ()
    """As of numbers."""
    histogram: tuple[int, ...] = ()
    """As of numbers."""


@dataclass(frozen=True, kw_only=True)
class CategoryColumn(ColumnBase):
    """A column of texts."""

    kind: Literal["category"]
    categories: tuple[CategoryCount, ...]
    """The most frequent first, at most 50; empty where there are too many distinct texts or too long ones."""
    other: int = 0
    """The number of rows with another text."""


Column: TypeAlias = Annotated[NumberColumn | BooleanColumn | TimestampColumn | CategoryColumn, OneOf("kind")]


@dataclass(frozen=True)
class Image:
    """The height and width of an image in pixels."""

    __pydantic_config__ = wire()

    height: int
    width: int


@dataclass(frozen=True)
class DatasetRow:
    """A row of a dataset with its number, from 0."""

    __pydantic_config__ = wire()

    row: int
    cells: dict[str, Cell]


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """An uploaded table or image, which never changes."""

    __pydantic_config__ = wire()

    id: Id
    name: str
    created_at: datetime
    digest: str
    """SHA-256 of the typed content, which does not depend on the format of the upload."""
    rows: int
    columns: tuple[Column, ...]
    image: Image | None = None
    """The size of an image, whose table has a row for each pixel, in row-major order. Null for a table."""

    def _repr_html_(self) -> str:
        names = ("name", "kind", "missing", "distinct", "min", "mean", "max", "sd")
        rows = [[getattr(column, name, None) for name in names] for column in self.columns]
        return table_html(f"{self.name}: {self.rows:,} rows, dataset {self.id}", names, rows)
