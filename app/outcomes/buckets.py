"""Sums over the outcomes of a version in one hour or day, and their means."""

from dataclasses import dataclass, fields, replace
from datetime import datetime

from relevance_bayes.records.outcomes import LevelCoverage, OutcomeBucket
from relevance_bayes.tasks.labelled import LEVELS


@dataclass(frozen=True)
class OutcomeSums:
    """Sums over the outcomes of a version: see `app.outcomes.tables.OutcomeHourRow`."""

    number: int
    start: datetime
    outcomes: int
    excluded: int
    log_score: float
    expected_log_score: float
    inside_50: int
    inside_80: int
    inside_95: int
    correct: int
    confidence: float

    def __add__(self, other: "OutcomeSums") -> "OutcomeSums":
        """Return the sums of both, with the version and the time of the first."""
        added = {name: getattr(self, name) + getattr(other, name) for name in SUMS}
        return replace(self, **added)

    def bucket(self) -> OutcomeBucket:
        """Return the means, those of numbers or of classes, which alone have a confidence."""
        of_classes = self.confidence > 0.0
        outcomes, possible = self.outcomes, self.outcomes - self.excluded
        inside = zip(LEVELS, (self.inside_50, self.inside_80, self.inside_95), strict=True)
        return OutcomeBucket(
            version=self.number,
            start=self.start,
            outcomes=outcomes,
            log_score=self.log_score / possible if possible else None,
            expected_log_score=self.expected_log_score / possible if possible else None,
            excluded=self.excluded,
            coverage=() if of_classes else tuple(LevelCoverage(level, found / outcomes) for level, found in inside),
            accuracy=self.correct / outcomes if of_classes else None,
            confidence=self.confidence / outcomes if of_classes else None,
        )


SUMS = tuple(one.name for one in fields(OutcomeSums))[2:]
"""The names of the sums, also of their columns."""
