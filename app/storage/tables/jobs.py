"""Jobs and what happened to them."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.jobs import FINISHED, MOVES
from app.storage.tables.base import Base, one_of


class TrainingJobRow(Base):
    """A job. `dataset_id` is no foreign key: a finished job outlives its dataset. `events` counts what happened."""

    __tablename__ = "training_jobs"
    __table_args__ = (
        CheckConstraint(one_of("state", frozenset(MOVES)), name="state"),
        CheckConstraint("attempt >= 0 AND events >= 0", name="counts"),
        CheckConstraint(f"({one_of('state', FINISHED)}) = (finished_at IS NOT NULL)", name="finished"),
        CheckConstraint(
            "(version IS NULL OR state = 'succeeded') AND (version IS NULL) = (model IS NULL)", name="succeeded"
        ),
        CheckConstraint("(state = 'failed') = (error IS NOT NULL)", name="failed"),
        Index(None, "owner", "id"),
        Index(None, "dataset_id"),
        Index(None, "state"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    owner: Mapped[str]
    state: Mapped[str]
    created_at: Mapped[datetime]
    dataset_id: Mapped[UUID]
    request: Mapped[str]
    plan: Mapped[str]
    attempt: Mapped[int] = mapped_column(default=0)
    events: Mapped[int] = mapped_column(default=0)
    started_at: Mapped[datetime | None] = mapped_column(default=None)
    finished_at: Mapped[datetime | None] = mapped_column(default=None)
    cancel_requested_at: Mapped[datetime | None] = mapped_column(default=None)
    progress: Mapped[str | None] = mapped_column(default=None)
    model: Mapped[str | None] = mapped_column(default=None)
    version: Mapped[int | None] = mapped_column(default=None)
    error: Mapped[str | None] = mapped_column(default=None)


class JobTransitionRow(Base):
    """A move that a job made, numbered among its events."""

    __tablename__ = "job_transitions"
    __table_args__ = (CheckConstraint(one_of("state", frozenset(MOVES)), name="state"),)

    job_id: Mapped[UUID] = mapped_column(ForeignKey("training_jobs.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    at: Mapped[datetime]
    state: Mapped[str]
    attempt: Mapped[int]
    reason: Mapped[str | None] = mapped_column(default=None)


class JobProgressRow(Base):
    """How far a job was (JSON), numbered among its events."""

    __tablename__ = "job_progress"

    job_id: Mapped[UUID] = mapped_column(ForeignKey("training_jobs.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    at: Mapped[datetime]
    progress: Mapped[str]
