"""Predictions."""

from dataclasses import dataclass

from relevance_bayes.client.errors import Problem
from relevance_bayes.records.html import table_html
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
from relevance_bayes.records.values import Label

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
