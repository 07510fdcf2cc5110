"""Sums over the outcomes of a version in one hour or day, and its CUSUM charts.

The charts detect that predictions no longer hold. A chart sums log likelihood ratios of a departure against what was
predicted, and starts again where the sum falls below 0 (Page, 1954). Each ratio has a mean of at most 1 while the
predictions hold, whatever the order and the difficulty of the rows, so with N charts, each with the threshold log(N g),
the mean number of outcomes until a false alarm is at least g (Lorden, 1971): see docs/explanation/outcomes.md.
"""

from dataclasses import dataclass, fields, replace
from datetime import datetime
from math import log, log1p
from uuid import UUID

from relevance_bayes.records.outcomes import Direction, LevelCoverage, OutcomeBucket, Statistic
from relevance_bayes.tasks.prediction import LEVELS


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


MIN_OUTCOMES_TO_FALSE_ALARM = 10_000
"""The mean number of outcomes of one version until a false alarm, at least."""

CHARTS: tuple[tuple[Statistic, Direction], ...] = (
    ("coverage", "lower"),
    ("coverage", "higher"),
    ("log_score", "lower"),
    ("log_score", "higher"),
    ("accuracy", "lower"),
    ("accuracy", "higher"),
)
"""All charts; a version of numbers has those of coverage and log score, one of classes those of accuracy and log score.
"""

CHARTS_OF_A_VERSION = 4

THRESHOLD = log(CHARTS_OF_A_VERSION * MIN_OUTCOMES_TO_FALSE_ALARM)
"""The value of a chart at which it raises an alarm."""

ODDS_RATIOS = {"lower": 2.0, "higher": 0.5}
"""The factors of the odds of a miss that a departure of coverage or accuracy is tested against."""


def bernoulli_ratio(missed: bool, promised: float, direction: Direction) -> float:
    """Return the log likelihood ratio of a miss or none, where the odds of the promised probability are multiplied.

    This is the ratio of the risk-adjusted CUSUM of Steiner, Cook, Farewell and Treasure (2000).
    """
    ratio = ODDS_RATIOS[direction]
    return (log(ratio) if missed else 0.0) - log1p(promised * (ratio - 1.0))


@dataclass(frozen=True)
class Chart:
    """A chart of one statistic in one direction, since its value was last 0.

    `since` is the time of the first of the `outcomes`; `observed` and `expected` are sums of the statistic and of what
    was predicted. `alarm_id` is its alarm, None while none is raised.
    """

    statistic: Statistic
    direction: Direction
    value: float = 0.0
    since: datetime | None = None
    outcomes: int = 0
    observed: float = 0.0
    expected: float = 0.0
    alarm_id: UUID | None = None

    @property
    def is_at_threshold(self) -> bool:
        """Return whether the value is that at which an alarm is raised."""
        return self.value == THRESHOLD

    def add(self, ratio: float, *, observed: float, expected: float, at: datetime) -> "Chart":
        """Return the chart with an outcome more: one at its beginning, without its alarm, where the value falls to 0.

        The value does not exceed the threshold, so that after a departure it can fall.
        """
        value = min(max(self.value + ratio, 0.0), THRESHOLD)
        if value == 0.0:
            return Chart(self.statistic, self.direction)
        return replace(
            self,
            value=value,
            since=self.since or at,
            outcomes=self.outcomes + 1,
            observed=self.observed + observed,
            expected=self.expected + expected,
        )
