"""Tables, and lists of anything."""

from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from relevance_bayes.types.values import ColumnKind

T_co = TypeVar("T_co", covariant=True)

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]
"""What JSON can say."""

Choice = dict[str, object]
"""One member of a union of the API's, told apart by its `type` (or `by`)."""


@dataclass(frozen=True)
class Category:
    """A text that a column holds, and how often."""

    label: str
    count: int


@dataclass(frozen=True)
class Column:
    """One column of a dataset."""

    name: str
    kind: ColumnKind
    missing: int
    min: float | str | None = None
    mean: float | str | None = None
    max: float | str | None = None
    sd: float | None = None
    distinct: int | None = None
    categories: tuple[Category, ...] | None = None


@dataclass(frozen=True)
class Image:
    """So many lines of so many pixels."""

    height: int
    width: int


@dataclass(frozen=True)
class Dataset:
    """A table that was uploaded, or an image."""

    id: str
    name: str
    created_at: datetime
    rows: int
    digest: str
    columns: tuple[Column, ...]
    image: Image | None = None
