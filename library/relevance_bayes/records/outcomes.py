"""Outcomes of predicted rows, what they show over time, and alarms."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from relevance_bayes.records.annotations import Id, wire
from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.records.values import Label

Statistic = Literal["coverage", "log_score", "accuracy"]
"""A statistic of outcomes: coverage of numbers by the 95 % interval, log score, accuracy of classes."""

Direction = Literal["lower", "higher"]
"""The direction in which a statistic departs from what was predicted."""

BucketWidth = Literal["hour", "day"]

MAX_OUTCOMES = 10_000
"""The maximum number of outcomes of one request."""

MAX_ROW_ID_LENGTH = 200
"""The maximum number of characters of a row id."""

RowId: TypeAlias = Annotated[str, Field(min_length=1, max_length=MAX_ROW_ID_LENGTH)]


@dataclass(frozen=True)
class OutcomesIn:
    """Outcomes of predicted rows."""

    __pydantic_config__ = wire(extra="forbid")

    row_ids: Annotated[tuple[RowId, ...], Field(min_length=1, max_length=MAX_OUTCOMES)]
    """The row ids of predictions, each once."""
    outcomes: Annotated[tuple[Label, ...], Field(max_length=MAX_OUTCOMES)]
    """The value of the target in each of these rows."""

    def by_row_id(self) -> dict[str, Label]:
        """Return the values by row id; raises InvalidRequestError for an id that is repeated, and unequal lengths."""
        if len(self.row_ids) != len(self.outcomes):
            detail = f"Expected an outcome for each of {len(self.row_ids)} row ids, got {len(self.outcomes)}."
            raise InvalidRequestError(detail, [Fault(detail, "/outcomes")])
        values = dict(zip(self.row_ids, self.outcomes, strict=True))
        if len(values) < len(self.row_ids):
            twice = next(one for one, count in Counter(self.row_ids).items() if count > 1)
            detail = f"Expected one outcome for each row, got the row id {twice!r} twice."
            raise InvalidRequestError(detail, [Fault(detail, "/row_ids")])
        return values


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
