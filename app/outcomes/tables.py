"""The tables of recorded predictions, their outcomes, charts and alarms."""

from datetime import datetime
from uuid import UUID

from pydantic import TypeAdapter
from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from app.database.base import Base
from relevance_bayes.records.outcomes import Statistic

OPEN = "cleared_at IS NULL"


class RecordedPredictionRow(Base):
    """A row that a version predicted for; `inputs` and, once it is known, `outcome` are JSON."""

    __tablename__ = "recorded_predictions"
    __table_args__ = (UniqueConstraint("version_id", "row_id"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    version_id: Mapped[UUID] = mapped_column(ForeignKey("model_versions.id", ondelete="CASCADE"))
    row_id: Mapped[str]
    at: Mapped[datetime]
    inputs: Mapped[str]
    outcome: Mapped[str | None] = mapped_column(default=None)


class OutcomeHourRow(Base):
    """Sums over the outcomes of a version whose predictions were made in the `hour` of a `day`.

    `inside_50` to `inside_95` count the outcomes in intervals, `correct` those whose class has the highest probability.
    The sums of log scores are of all but those `excluded`.
    """

    __tablename__ = "outcome_hours"
    __table_args__ = (Index(None, "version_id", "day"), Index(None, "hour"))

    version_id: Mapped[UUID] = mapped_column(ForeignKey("model_versions.id", ondelete="CASCADE"), primary_key=True)
    hour: Mapped[datetime] = mapped_column(primary_key=True)
    day: Mapped[datetime]
    outcomes: Mapped[int]
    excluded: Mapped[int]
    log_score: Mapped[float]
    expected_log_score: Mapped[float]
    inside_50: Mapped[int]
    inside_80: Mapped[int]
    inside_95: Mapped[int]
    correct: Mapped[int]
    confidence: Mapped[float]


class ModelAlarmRow(Base):
    """An alarm of a version's chart."""

    __tablename__ = "model_alarms"
    __table_args__ = (
        CheckConstraint("statistic IN ('accuracy', 'coverage', 'log_score')", name="statistic"),
        CheckConstraint("direction IN ('higher', 'lower')", name="direction"),
        Index(None, "version_id", "id"),
        Index("ix_model_alarms_open", "version_id", sqlite_where=text(OPEN), postgresql_where=text(OPEN)),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    version_id: Mapped[UUID] = mapped_column(ForeignKey("model_versions.id", ondelete="CASCADE"))
    statistic: Mapped[str]
    direction: Mapped[str]
    raised_at: Mapped[datetime]
    since: Mapped[datetime]
    outcomes: Mapped[int]
    observed: Mapped[float]
    expected: Mapped[float]
    cleared_at: Mapped[datetime | None] = mapped_column(default=None)


class OutcomeChartRow(Base):
    """A chart of a version: see `app.outcomes.charts.Chart`."""

    __tablename__ = "outcome_charts"

    version_id: Mapped[UUID] = mapped_column(ForeignKey("model_versions.id", ondelete="CASCADE"), primary_key=True)
    statistic: Mapped[str] = mapped_column(primary_key=True)
    direction: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[float]
    since: Mapped[datetime | None]
    outcomes: Mapped[int]
    observed: Mapped[float]
    expected: Mapped[float]
    alarm_id: Mapped[UUID | None] = mapped_column(ForeignKey("model_alarms.id", ondelete="CASCADE"))


STATISTIC: TypeAdapter[Statistic] = TypeAdapter(Statistic)
