"""The tables of jobs and their events."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from app.database.base import Base, one_of
from relevance_bayes.records.jobs import FINISHED, MOVES, NOUNS

PROGRESS_KEPT = "progress_kept AND finished_at IS NOT NULL"
SCORING = "of_version IS NOT NULL"


class JobRow(Base):
    """A job of any kind. `dataset_id` is no foreign key: a job outlives its dataset. `events` counts its events.

    `for_model` is the model's name in the plan, `model` the one under which a version was recorded. A job that uses
    versions uses number `of_version` of `for_model` and, in a comparison, `compared_version`; a number is never given
    twice. `result` is its result (JSON).
    `deaths` counts attempts that died; where `interrupted` is set, the newest attempt is counted or did not die.
    `last_words` is the end of the output of a child that died. `running_seconds` is the running time of all attempts.
    `traceparent` and `tracestate` are the trace context of its submission, `attempt_traceparent` is that of its newest
    attempt.
    `change` is the number of its last change among those of its owner's jobs.
    `progress_kept` is false once its progress has expired and was deleted. `expected_cost` is that of
    a training (JSON). `attempt_share` is the completed share of its work when its newest attempt began.
    """

    __tablename__ = "jobs"
    __table_args__ = (
        CheckConstraint(one_of("state", frozenset(MOVES)), name="state"),
        CheckConstraint(one_of("kind", frozenset(NOUNS)), name="kind"),
        CheckConstraint("(kind = 'training') = (of_version IS NULL)", name="of_version"),
        CheckConstraint("(result IS NOT NULL) = (state = 'succeeded' AND kind <> 'training')", name="result"),
        CheckConstraint("attempt >= 0 AND events >= 0", name="counts"),
        CheckConstraint(f"({one_of('state', FINISHED)}) = (finished_at IS NOT NULL)", name="finished"),
        CheckConstraint(
            "(version IS NULL OR state = 'succeeded') AND (version IS NULL) = (model IS NULL)", name="succeeded"
        ),
        CheckConstraint("(state = 'failed') = (error IS NOT NULL)", name="failed"),
        Index(None, "owner", "kind", "id"),
        Index("ix_jobs_owner_id", "owner", "id"),
        Index("ix_jobs_owner_state_id", "owner", "state", "id"),
        Index("ix_jobs_owner_kind_state", "owner", "kind", "state"),
        Index("ix_jobs_owner_change_id", "owner", "change", "id"),
        Index(None, "dataset_id"),
        Index(None, "state"),
        Index(
            "ix_jobs_unfinished",
            "owner",
            "finished_at",
            "for_model",
            sqlite_where=text("finished_at IS NULL"),
            postgresql_where=text("finished_at IS NULL"),
        ),
        Index(
            "ix_jobs_scoring",
            "owner",
            "for_model",
            "of_version",
            "id",
            sqlite_where=text(SCORING),
            postgresql_where=text(SCORING),
        ),
        Index(
            "ix_jobs_progress_kept",
            "finished_at",
            sqlite_where=text(PROGRESS_KEPT),
            postgresql_where=text(PROGRESS_KEPT),
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    owner: Mapped[str]
    state: Mapped[str]
    created_at: Mapped[datetime]
    dataset_id: Mapped[UUID]
    request: Mapped[str]
    plan: Mapped[str]
    for_model: Mapped[str] = mapped_column()
    kind: Mapped[str] = mapped_column(default="training")
    of_version: Mapped[int | None] = mapped_column(default=None)
    compared_version: Mapped[int | None] = mapped_column(default=None)
    result: Mapped[str | None] = mapped_column(default=None)
    priority: Mapped[int] = mapped_column(default=0)
    retry_of: Mapped[UUID | None] = mapped_column(default=None)
    submitted_by: Mapped[str | None] = mapped_column(default=None)
    submitted_with: Mapped[str | None] = mapped_column(default=None)
    attempt: Mapped[int] = mapped_column(default=0)
    events: Mapped[int] = mapped_column(default=0)
    started_at: Mapped[datetime | None] = mapped_column(default=None)
    finished_at: Mapped[datetime | None] = mapped_column(default=None)
    cancel_requested_at: Mapped[datetime | None] = mapped_column(default=None)
    progress: Mapped[str | None] = mapped_column(default=None)
    model: Mapped[str | None] = mapped_column(default=None)
    version: Mapped[int | None] = mapped_column(default=None)
    error: Mapped[str | None] = mapped_column(default=None)
    deaths: Mapped[int] = mapped_column(default=0)
    interrupted: Mapped[bool] = mapped_column(default=False)
    running_seconds: Mapped[float] = mapped_column(default=0.0)
    last_words: Mapped[str | None] = mapped_column(default=None)
    traceparent: Mapped[str | None] = mapped_column(default=None)
    tracestate: Mapped[str | None] = mapped_column(default=None)
    attempt_traceparent: Mapped[str | None] = mapped_column(default=None)
    change: Mapped[int] = mapped_column(BigInteger, default=0)
    progress_kept: Mapped[bool] = mapped_column(default=True)
    expected_cost: Mapped[str | None] = mapped_column(default=None)
    attempt_share: Mapped[float | None] = mapped_column(default=None)


class JobChangeRow(Base):
    """The number of changes of an owner's jobs; `id` is derived from the owner, `epoch` is renewed by a restore."""

    __tablename__ = "job_changes"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    owner: Mapped[str]
    epoch: Mapped[str]
    number: Mapped[int] = mapped_column(BigInteger)


class JobTransitionRow(Base):
    """A transition of a job, numbered among its events; with the attempt that a new attempt resumed from."""

    __tablename__ = "job_transitions"
    __table_args__ = (CheckConstraint(one_of("state", frozenset(MOVES)), name="state"),)

    job_id: Mapped[UUID] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    at: Mapped[datetime]
    state: Mapped[str]
    attempt: Mapped[int]
    reason: Mapped[str | None] = mapped_column(default=None)
    resumed_attempt: Mapped[int | None] = mapped_column(default=None)
    resumed_at: Mapped[datetime | None] = mapped_column(default=None)


class JobProgressRow(Base):
    """The progress of a job (JSON), numbered among its events."""

    __tablename__ = "job_progress"

    job_id: Mapped[UUID] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    at: Mapped[datetime]
    progress: Mapped[str]


class JobCheckpointRow(Base):
    """A checkpoint of a job's fit, encoded by the codec, and the program that made it."""

    __tablename__ = "job_checkpoints"

    job_id: Mapped[UUID] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    attempt: Mapped[int]
    at: Mapped[datetime]
    by: Mapped[str]
    content: Mapped[bytes]


class WorkerRow(Base):
    """The last heartbeat of a worker process, by the database's clock, and whether it has left.

    `speed` is that of its core, as a multiple of the reference core's. `release` is its program's and `revision` that
    of the tables which it expects. `running` of its `slots` run a fit, and `busy_seconds` is the sum of the times of
    its fits.
    """

    __tablename__ = "workers"

    executor: Mapped[str] = mapped_column(primary_key=True)
    heartbeat_at: Mapped[datetime]
    left_at: Mapped[datetime | None] = mapped_column(default=None)
    speed: Mapped[float | None] = mapped_column(default=None)
    release: Mapped[str | None] = mapped_column(default=None)
    revision: Mapped[str | None] = mapped_column(default=None)
    slots: Mapped[int | None] = mapped_column(default=None)
    running: Mapped[int | None] = mapped_column(default=None)
    busy_seconds: Mapped[float | None] = mapped_column(default=None)


class JobTotalRow(Base):
    """The number of ended jobs and the seconds that they took, by kind, final state and upper bound of the duration."""

    __tablename__ = "job_totals"

    kind: Mapped[str] = mapped_column(primary_key=True)
    state: Mapped[str] = mapped_column(primary_key=True)
    bound: Mapped[float] = mapped_column(primary_key=True, autoincrement=False)
    jobs: Mapped[int] = mapped_column(BigInteger)
    seconds: Mapped[float]
