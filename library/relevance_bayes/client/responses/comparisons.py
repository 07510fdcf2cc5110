"""Comparisons of two versions on the same rows."""

from dataclasses import dataclass

from relevance_bayes.client.responses.predictions import Prediction
from relevance_bayes.records.jobs import VersionName


@dataclass(frozen=True)
class Largest:
    """The row, from 0, with the largest difference: `difference` of numbers, else `total_variation`."""

    row: int
    difference: float | None = None
    total_variation: float | None = None


@dataclass(frozen=True)
class Summary:
    """The summary over all rows: differences of numbers; of classes, the rows with different labels and the total
    variation."""

    rows: int
    largest: Largest | None
    mean_difference: float | None = None
    mean_absolute_difference: float | None = None
    labels_differ: int | None = None
    mean_total_variation: float | None = None


@dataclass(frozen=True)
class ComparedRow:
    """The predictions of both versions for a row; `difference` is the second's less the first's."""

    first: Prediction
    second: Prediction
    difference: float | None = None
    total_variation: float | None = None


@dataclass(frozen=True)
class Comparison:
    """The differences of two versions on a table."""

    first: VersionName
    second: VersionName
    summary: Summary
    rows: tuple[ComparedRow, ...]
