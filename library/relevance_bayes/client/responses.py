"""Responses of the service as frozen dataclasses. Names and shapes are the API's; numbers are in the user's units."""

from dataclasses import dataclass

from relevance_bayes.client.errors import Problem
from relevance_bayes.records.choices import Choice
from relevance_bayes.records.datasets import Column, Dataset, Image
from relevance_bayes.records.html import table_html
from relevance_bayes.records.jobs import VersionName
from relevance_bayes.records.json import Page
from relevance_bayes.records.predictions import (
    ClassLatent,
    ClassProbability,
    Contribution,
    Decision,
    ExplanationSum,
    Latent,
    MissingValue,
    UnknownCategory,
    Variance,
)
from relevance_bayes.records.trainings import (
    ApproximationJob,
    ClassificationJob,
    ComparedModel,
    ComponentsJob,
    ImageJob,
    Job,
    RegressionJob,
    SupervisedJob,
    TrainingJob,
)
from relevance_bayes.records.values import CategoryCount, Json, Label
from relevance_bayes.records.versions import (
    Alternative,
    ApproximationVersion,
    ClassificationVersion,
    ComponentsVersion,
    ImageVersion,
    ImportedVersion,
    Member,
    RegressionVersion,
    SupervisedVersion,
    Version,
    VersionBase,
)

__all__ = [
    "Alternative",
    "ApproximationJob",
    "ApproximationVersion",
    "CategoryCount",
    "Choice",
    "ClassLatent",
    "ClassProbability",
    "ClassificationJob",
    "ClassificationVersion",
    "Column",
    "ComparedModel",
    "ComponentsJob",
    "ComponentsVersion",
    "Contribution",
    "Dataset",
    "Decision",
    "ExplanationSum",
    "Image",
    "ImageJob",
    "ImageVersion",
    "ImportedVersion",
    "Job",
    "Json",
    "Latent",
    "Member",
    "Page",
    "Prediction",
    "Predictions",
    "RegressionJob",
    "RegressionVersion",
    "SupervisedJob",
    "SupervisedVersion",
    "TrainingJob",
    "UnknownCategory",
    "Variance",
    "Version",
    "VersionBase",
]

SHOWN_ROWS = 20
"""The predictions in a notebook."""


@dataclass(frozen=True)
class Prediction:
    """The prediction for a row: a number's Gaussian, a class, a function value, components, or a problem.

    `support`: 1 among the training data, near 0 away from them, None where the model can't determine it.
    `reconstruction_error` is the part of the row not in its `components`; `novelty` is 1 for a row unlike any.
    """

    __omits_none__ = True

    mean: float | None = None
    sd: float | None = None
    variance: Variance | None = None
    lower: float | None = None
    upper: float | None = None
    label: Label | None = None
    probabilities: tuple[ClassProbability, ...] | None = None
    latent: Latent | tuple[ClassLatent, ...] | None = None
    support: float | None = None
    value: float | None = None
    components: tuple[float, ...] | None = None
    reconstruction_error: float | None = None
    log_density: float | None = None
    novelty: float | None = None
    explanation: tuple[Contribution, ...] | None = None
    explanation_sum: ExplanationSum | None = None
    decision: Decision | None = None
    error: Problem | None = None


@dataclass(frozen=True)
class Predictions:
    """The predictions, in the order of the rows; `covariance` where requested, None where a row has a problem.

    `unknown_categories` are the first cells with categories that no training row had, `nulls` those without a value.
    """

    __omits_none__ = True

    model: str
    version: int
    predictions: tuple[Prediction, ...]
    covariance: tuple[tuple[float | None, ...], ...] | None = None
    unknown_categories: tuple[UnknownCategory, ...] | None = None
    nulls: tuple[MissingValue, ...] | None = None

    def _repr_html_(self) -> str:
        names = ("mean", "sd", "lower", "upper", "label", "value", "support", "error")
        shown = [[getattr(one, name) for name in names] for one in self.predictions[:SHOWN_ROWS]]
        used = [place for place in range(len(names)) if any(row[place] is not None for row in shown)]
        caption = f"{self.model}, version {self.version}: {len(self.predictions):,} predictions"
        rows = [[row[place] for place in used] for row in shown]
        return table_html(caption, [names[place] for place in used], rows, more=len(self.predictions) - len(rows))


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
