"""Predictions."""

from dataclasses import dataclass

from relevance_bayes.client.errors import Problem
from relevance_bayes.types.predictions import (
    ClassLatent,
    ClassProbability,
    Contribution,
    Decision,
    ExplanationSum,
    Latent,
    Variance,
)
from relevance_bayes.types.values import Label


@dataclass(frozen=True)
class Prediction:
    """One row's answer: a number's Gaussian, a class, a known function's value, components, or why there is none.

    `support`: 1 where the data speak for the row, near 0 away from all of them, None where the model can't tell.
    `reconstruction_error` is what the `components` miss of the row; `novelty` is 1 where it is newer than all.
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
    """The answers, in the order of the rows; `covariance` where it was asked for, None where a row has no answer."""

    __omits_none__ = True

    model: str
    version: int
    predictions: tuple[Prediction, ...]
    covariance: tuple[tuple[float | None, ...], ...] | None = None
