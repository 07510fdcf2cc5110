"""Tables and images that were uploaded, and what their columns hold."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal, TypeAlias

from relevance_bayes.types.annotations import OneOf
from relevance_bayes.types.json_schema import Id, wire


@dataclass(frozen=True, kw_only=True)
class ColumnBase:
    """The members of all columns."""

    __pydantic_config__ = wire()

    name: str
    missing: int
    """The number of rows without a value."""
    distinct: int | None
    """The number of distinct values; null above 50 or for long texts."""


@dataclass(frozen=True, kw_only=True)
class NumberColumn(ColumnBase):
    """A column of numbers; null where none is present."""

    kind: Literal["number"]
    min: float | None
    mean: float | None
    max: float | None
    sd: float | None
    """Of the values present, divided by their number."""


@dataclass(frozen=True, kw_only=True)
class BooleanColumn(ColumnBase):
    """A column of true and false, counted as 1 and 0."""

    kind: Literal["boolean"]
    min: float | None
    mean: float | None
    """The share that is true."""
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


@dataclass(frozen=True)
class CategoryCount:
    """A text, and in how many rows it stands."""

    __pydantic_config__ = wire()

    label: str
    count: int


@dataclass(frozen=True, kw_only=True)
class CategoryColumn(ColumnBase):
    """A column of texts."""

    kind: Literal["category"]
    categories: tuple[CategoryCount, ...]
    """The most frequent first, at most 50; empty where there are too many or too long ones to count."""


Column: TypeAlias = Annotated[NumberColumn | BooleanColumn | TimestampColumn | CategoryColumn, OneOf("kind")]


@dataclass(frozen=True)
class Image:
    """So many lines of so many pixels."""

    __pydantic_config__ = wire()

    height: int
    width: int


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A table or an image that was uploaded; it never changes."""

    __pydantic_config__ = wire()

    id: Id
    name: str
    created_at: datetime
    digest: str
    """SHA-256 of the typed content: the same table has the same, however it came."""
    rows: int
    columns: tuple[Column, ...]
    image: Image | None = None
    """Of an image: its size. It has a row for each pixel, line after line. Null for a table."""
