"""Outcomes of predicted rows, what they show over time, and alarms."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from relevance_bayes.records.annotations import Id, wire

Statistic = Literal["coverage", "log_score", "accuracy"]
"""A statistic of outcomes: coverage of numbers by the 95 % interval, log score, accuracy of classes."""

Direction = Literal["lower", "higher"]
"""The direction in which a statistic departs from what was predicted."""

BucketWidth = Literal["hour", "day"]


@dataclass(frozen=True)
class OutcomesReceived:
    """The numbers of outcomes in a request, by what they were."""

    __pydantic_config__ = wire(
        example={"recorded": 1, "repeated": 0, "conflicting": 0, "unknown": 1, "unknown_ids": ["order-18"]}
    )

    recorded: int
    """Outcomes that were new."""
    repeated: int
    """Outcomes that were known, with the same value; they count once."""
    conflicting: int
    """Outcomes that were known with another value, which stays."""
    unknown: int
    """Outcomes whose row id has no recorded prediction."""
    unknown_ids: tuple[str, ...]
    """The first 100 unknown row ids: send them again later, since a prediction is recorded about a second after its
    response."""


@dataclass(frozen=True)
class LevelCoverage:
    """The share of outcomes in the intervals of one level."""

    __pydantic_config__ = wire()

    percent: int
    coverage: float


@dataclass(frozen=True)
class OutcomeBucket:
    """The outcomes of one version whose predictions were made in one hour or day."""

    __pydantic_config__ = wire()

    version: int
    start: datetime
    """The beginning of the hour or day, in UTC."""
    outcomes: int
    log_score: float | None
    """The mean log density of the outcomes, or log probability of the classes, in nats; the higher, the better. Without
    those excluded; null where there are no others."""
    expected_log_score: float | None
    """The same mean as the predictions expected it."""
    excluded: int
    """Outcomes that the prediction gave a density or probability of 0."""
    coverage: tuple[LevelCoverage, ...]
    """The coverage of intervals; empty for classes."""
    accuracy: float | None
    """The share of outcomes whose class has the highest probability; null for numbers."""
    confidence: float | None
    """The mean probability of the most probable class, which the accuracy equals under calibrated predictions; null for
    numbers."""


@dataclass(frozen=True)
class ModelAlarm:
    """An alarm: a statistic of a version's outcomes departs from what was predicted by more than chance.

    The members from `since` to `expected` are those at the time when it was raised.
    """

    __pydantic_config__ = wire()

    id: Id
    model: str
    version: int
    statistic: Statistic
    direction: Direction
    raised_at: datetime
    since: datetime
    """The time at which the first outcome that the alarm is about was received."""
    outcomes: int
    """The number of outcomes since then."""
    observed: float
    """The statistic of these outcomes: a share for coverage and accuracy, nats for the log score."""
    expected: float
    """The same as the predictions expected it."""
    cleared_at: datetime | None
    """The time at which the outcomes agreed with the predictions again; null until then."""
