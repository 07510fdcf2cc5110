"""The distribution of training data and of predictions for them, which drift is measured against."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from relevance_bayes.records.annotations import OneOf, wire
from relevance_bayes.records.datasets import CategoryCount
from relevance_bayes.records.values import Cell


@dataclass(frozen=True, kw_only=True)
class HistogramBase:
    """The members of all histograms."""

    __pydantic_config__ = wire()

    name: str
    """The column, or for predictions the output: `mean`, `novelty`, `label`, or `probability_` and the second of two
    classes."""
    missing: int
    """The number of rows without a value."""


@dataclass(frozen=True, kw_only=True)
class NumberHistogram(HistogramBase):
    """The number of rows between quantiles. Points in time are seconds since 1970 UTC."""

    kind: Literal["number", "timestamp"]
    min: float | None
    """Null where no value is present."""
    max: float | None
    edges: tuple[float, ...]
    """Ascending bounds of the bins: a value is in the first bin whose edge it does not exceed, else in the last."""
    counts: tuple[int, ...]
    """The rows of each bin, one more than edges."""


@dataclass(frozen=True, kw_only=True)
class CategoryHistogram(HistogramBase):
    """The number of rows with each text, class, or `false` and `true`."""

    kind: Literal["category", "boolean"]
    categories: tuple[CategoryCount, ...]
    """The most frequent first, at most 20."""
    other: int
    """The number of rows with another value."""


Histogram: TypeAlias = Annotated[NumberHistogram | CategoryHistogram, OneOf("kind")]


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """Histograms of training rows, as they were before encoding, and of predictions for them.

    With more than 4,096 training rows, or many columns, they are of a random part.
    """

    __pydantic_config__ = wire()

    rows: int
    """The number of rows in each histogram."""
    inputs: tuple[Histogram, ...]
    """At most 100, in the order of the version's inputs."""
    target: Histogram | None
    """Null where the model has no target."""
    predictions: Histogram


@dataclass(frozen=True, kw_only=True)
class InputCells:
    """The values of an input in the training rows that a version keeps, null where missing.

    Missing values of a row to predict are drawn from these rows. Points in time are texts in ISO 8601.
    """

    __pydantic_config__ = wire()

    name: str
    cells: tuple[Cell, ...]
