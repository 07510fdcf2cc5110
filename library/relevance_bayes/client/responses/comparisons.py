"""Two versions on the same rows."""

from dataclasses import dataclass

from relevance_bayes.client.responses.predictions import Prediction
from relevance_bayes.types.jobs import VersionName


@dataclass(frozen=True)
class Largest:
    """The row, from 0, where two versions are farthest apart; `difference` of numbers, else `total_variation`."""

    row: int
    difference: float | None = None
    total_variation: float | None = None


@dataclass(frozen=True)
class Summary:
    """Over all rows: of numbers the differences, of classes how many labels differ and the total variation."""

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
    """Where two versions disagree, and by how much."""

    first: VersionName
    second: VersionName
    summary: Summary
    rows: tuple[ComparedRow, ...]
