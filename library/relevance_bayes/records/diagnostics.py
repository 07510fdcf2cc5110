"""Diagnostics of a training: reliability, residuals, and the trace of the fit."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from relevance_bayes.records.annotations import OneOf, wire
from relevance_bayes.records.evaluations import ReliabilityBin
from relevance_bayes.records.values import Label

LeftOutSource: TypeAlias = Literal["validation", "holdout"]
ResidualSource: TypeAlias = Literal["validation", "holdout", "training"]


@dataclass(frozen=True)
class LevelCoverage:
    """The coverage of the central intervals of one probability."""

    __pydantic_config__ = wire()

    level: float
    """The probability of the intervals."""
    share: float
    """The share of rows within their intervals: `level` for calibrated predictions."""
    standard_error: float
    """That of `share` for calibrated predictions of independent rows: sqrt(level (1 - level) / rows)."""


@dataclass(frozen=True, kw_only=True)
class ReliabilityBase:
    """The members of both kinds of reliability."""

    __pydantic_config__ = wire()

    source: LeftOutSource
    """The rows: those of `metrics.validation`, each predicted by a fit without it, or those of `metrics.holdout`."""
    rows: int
    log_score: float | None
    """The mean log density or log probability of the targets, in nats; null where one of them has none."""


@dataclass(frozen=True, kw_only=True)
class NumberReliability(ReliabilityBase):
    """The reliability of predicted numbers."""

    kind: Literal["numbers"]
    pit: tuple[float, ...]
    """The probability integral transform: shares of rows by P(y <= target), in 20 bins of equal width. Uniform for
    calibrated predictions, U-shaped for overconfident ones."""
    coverage: tuple[LevelCoverage, ...]
    """At 50, 80, 90, 95 and 99 percent."""


@dataclass(frozen=True)
class CalibrationCurve:
    """The probabilities of one class, and its observed frequencies."""

    __pydantic_config__ = wire()

    label: Label
    bins: tuple[ReliabilityBin, ...]
    """The bins with rows, of 20 of equal width."""


@dataclass(frozen=True, kw_only=True)
class ClassReliability(ReliabilityBase):
    """The reliability of predicted probabilities."""

    kind: Literal["classes"]
    brier: float
    """Half of the mean squared distance between probabilities and classes."""
    curves: tuple[CalibrationCurve, ...]
    """For each class; of more than 32 those with the most rows."""


Reliability: TypeAlias = Annotated[NumberReliability | ClassReliability, OneOf("kind")]


@dataclass(frozen=True)
class ResidualStatistics:
    """The residuals of some rows."""

    __pydantic_config__ = wire()

    rows: int
    mean: float
    sd: float
    """The population standard deviation."""


@dataclass(frozen=True, kw_only=True)
class ResidualsBase:
    """The members of residuals against any quantity."""

    __pydantic_config__ = wire()

    name: str
    """The input, or of predictions the output: `mean`, `probability_` and the second of two classes, or `probability`
    of the predicted one of more."""
    missing: ResidualStatistics | None
    """Of the rows without a value; null where each has one."""


@dataclass(frozen=True, kw_only=True)
class NumberResiduals(ResidualsBase):
    """Residuals in bins between quantiles of a number. Points in time are seconds since 1970 UTC."""

    kind: Literal["number", "timestamp"]
    min: float | None
    """Null where no value is present."""
    max: float | None
    edges: tuple[float, ...]
    """Ascending bounds of the bins: a value is in the first bin whose edge it does not exceed, else in the last."""
    bins: tuple[ResidualStatistics, ...]
    """One more than edges, with about as many rows each; empty where no value is present."""


@dataclass(frozen=True)
class CategoryResidual:
    """The residuals of the rows with one text, or `false` or `true`."""

    __pydantic_config__ = wire()

    label: str
    rows: int
    mean: float
    sd: float
    """The population standard deviation."""


@dataclass(frozen=True, kw_only=True)
class CategoryResiduals(ResidualsBase):
    """Residuals by category."""

    kind: Literal["category", "boolean"]
    categories: tuple[CategoryResidual, ...]
    """The most frequent first, at most 20."""
    other: ResidualStatistics | None
    """Of the rows with another text; null where there are none."""


InputResiduals: TypeAlias = Annotated[NumberResiduals | CategoryResiduals, OneOf("kind")]


@dataclass(frozen=True, kw_only=True)
class Residuals:
    """Residuals against the prediction, and against each input, in bins.

    Of numbers they are target less predicted mean, in the target's units. Of two classes: 1 for the second and 0 for
    the first, less the probability of the second. Of more: 1 where the predicted label is right, else 0, less its
    probability. A mean far from 0 in a bin shows what the model does not.
    """

    __pydantic_config__ = wire()

    source: ResidualSource
    """The rows: those of the reliability, or without one a part of the training rows, whose residuals are too small."""
    rows: int
    """At most 20,000 rows."""
    prediction: NumberResiduals
    """At most 32 bins."""
    inputs: tuple[InputResiduals, ...]
    """The first 64 inputs of the version, each with at most 16 bins or 20 categories."""


@dataclass(frozen=True, kw_only=True)
class TraceStep:
    """One step of a fit."""

    __pydantic_config__ = wire()

    iteration: int
    phase: str
    """The phase of the fit; only objectives of one phase can be compared."""
    objective: float | None
    """The quantity that this phase maximises, in nats: the log marginal likelihood of the rows of the phase or a lower
    bound of it, with the log hyperpriors, less the price of functions. Null before it is first computed."""
    gain: float | None
    """The rise of the objective by this step; null where a phase begins."""
    noise_sd: float | None
    """In the target's units, of the logarithm under `log_gaussian`, of the logit under `logit_gaussian`; null for
    classes and counts, and for heavy tails while their degrees of freedom are learned."""
    functions: int
    """The number of functions after the step."""
    entered: int | None
    """The dataset row of the function that entered: null without one, with several, and for one that has no row."""
    left: int | None
    """The dataset row of the function that left."""


@dataclass(frozen=True, kw_only=True)
class Trace:
    """The steps of the fit of one of the version's `members`."""

    __pydantic_config__ = wire()

    member: int
    """The index in `members`, from 0."""
    steps: int
    """The number of all steps."""
    kept: tuple[TraceStep, ...]
    """Evenly thinned steps, always with the first and the last: at most 500 of all members together, or 2 of each."""


@dataclass(frozen=True, kw_only=True)
class Diagnostics:
    """Reliability, residuals and the trace of the fit, as they were when a version was trained.

    They are counts, means and bounds of bins, without single rows, except where a bin has one row, and the smallest and
    the greatest value of each input.
    """

    __pydantic_config__ = wire()

    reliability: Reliability | None
    """Null where no rows were left out: predictions of training rows are no evidence of reliability."""
    reason: str | None
    """The reason why there is no reliability."""
    residuals: Residuals | None
    """Null without rows."""
    traces: tuple[Trace, ...]
    """One for each member that was fitted step by step."""
