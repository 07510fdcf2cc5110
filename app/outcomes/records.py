"""Recorded predictions, outcomes under them, and events of alarms."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from relevance_bayes.tasks.prediction import LogScores

MAX_UNKNOWN_IDS = 100
"""The most unknown row ids in a response."""


@dataclass(frozen=True)
class RecordedRow:
    """A row that a version predicted for: its id, the time, and its inputs in JSON.

    The prediction itself follows from the version, which never changes, and the inputs.
    """

    version_id: UUID
    row_id: str
    at: datetime
    inputs: str


@dataclass(frozen=True)
class Pending:
    """A recorded row with an outcome for it; `outcome` is the one that it has already."""

    id: UUID
    version_id: UUID
    number: int
    row_id: str
    at: datetime
    outcome: str | None


@dataclass(frozen=True)
class ScoredOutcome(LogScores[float]):
    """An outcome under the prediction for its row: see `relevance_bayes.tasks.prediction.ScoredRows`.

    `level` is the smallest level whose interval contains it, 100 for none, and `miss` the probability outside that of
    95 %; None for classes. `correct` and `confidence` are None for numbers.
    """

    level: int | None
    correct: bool | None
    confidence: float | None
    miss: float | None


@dataclass(frozen=True)
class AlarmRaised:
    """An event: an alarm of an owner's model was raised."""

    alarm_id: UUID
    owner: str


@dataclass(frozen=True)
class AlarmCleared:
    """An event: an alarm of an owner's model was cleared."""

    alarm_id: UUID
    owner: str
