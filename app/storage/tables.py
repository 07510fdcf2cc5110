"""The tables. JSON is kept as text, so that both databases keep it as it was written and a person can read it."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import (
    CheckConstraint,
    Double,
    ForeignKey,
    Index,
    LargeBinary,
    MetaData,
    Text,
    UniqueConstraint,
    Uuid,
    false,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, MappedAsDataclass, mapped_column

from app.domain.jobs import FINISHED, MOVES
from app.storage.types import UtcDateTime

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Base(MappedAsDataclass, DeclarativeBase, kw_only=True):
    """All tables; every constraint has a name, so that a migration can speak of it."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {datetime: UtcDateTime(), str: Text(), UUID: Uuid(), bytes: LargeBinary(), float: Double()}


def _one_of(column: str, values: frozenset[str]) -> str:
    return f"{column} IN ({', '.join(repr(value) for value in sorted(values))})"


class DatasetRow(Base):
    """A dataset; or one on its way in (`uploading`); or one whose blocks are still being removed (`deleted`).

    It last grew at `written_at`; `columns` are summaries as JSON. An image has a `height` and a `width`.
    """

    __tablename__ = "datasets"
    __table_args__ = (
        CheckConstraint("state IN ('deleted', 'ready', 'uploading')", name="state"),
        CheckConstraint(
            "state <> 'ready' OR (rows IS NOT NULL AND digest IS NOT NULL AND columns IS NOT NULL)", name="complete"
        ),
        Index(None, "owner", "id"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    owner: Mapped[str]
    name: Mapped[str]
    state: Mapped[str]
    created_at: Mapped[datetime]
    written_at: Mapped[datetime]
    rows: Mapped[int | None] = mapped_column(default=None)
    digest: Mapped[str | None] = mapped_column(default=None)
    columns: Mapped[str | None] = mapped_column(default=None)
    height: Mapped[int | None] = mapped_column(default=None)
    width: Mapped[int | None] = mapped_column(default=None)


class DatasetBlockRow(Base):
    """Some consecutive rows of a dataset, from `first_row` on; `content` is the codec's."""

    __tablename__ = "dataset_blocks"
    __table_args__ = (
        UniqueConstraint("dataset_id", "first_row"),
        CheckConstraint("number >= 0 AND first_row >= 0 AND rows > 0", name="counts"),
    )

    dataset_id: Mapped[UUID] = mapped_column(ForeignKey("datasets.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    first_row: Mapped[int]
    rows: Mapped[int]
    content: Mapped[bytes]


class TrainingJobRow(Base):
    """A job. `dataset_id` is no foreign key: a finished job outlives its dataset. `events` counts what happened."""

    __tablename__ = "training_jobs"
    __table_args__ = (
        CheckConstraint(_one_of("state", frozenset(MOVES)), name="state"),
        CheckConstraint("attempt >= 0 AND events >= 0", name="counts"),
        CheckConstraint(f"({_one_of('state', FINISHED)}) = (finished_at IS NOT NULL)", name="finished"),
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
    __table_args__ = (CheckConstraint(_one_of("state", frozenset(MOVES)), name="state"),)

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


NO_TARGET = ""
"""Stands for the target of a task that has none."""


class ModelRow(Base):
    """A name and its counter. A deleted model keeps its row (`deleted_at`): no version number is ever given twice."""

    __tablename__ = "models"
    __table_args__ = (
        UniqueConstraint("owner", "name"),
        CheckConstraint("last_number >= 0", name="counts"),
        Index(None, "owner", "id"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    owner: Mapped[str]
    name: Mapped[str]
    created_at: Mapped[datetime]
    task: Mapped[str]
    target: Mapped[str]
    inputs: Mapped[str]
    deleted_at: Mapped[datetime | None] = mapped_column(default=None)
    last_number: Mapped[int] = mapped_column(default=0)


class ModelVersionRow(Base):
    """An immutable version; `report` is JSON. One job makes one version at most."""

    __tablename__ = "model_versions"
    __table_args__ = (
        UniqueConstraint("model_id", "number"),
        UniqueConstraint("job_id"),
        CheckConstraint("number >= 1", name="counts"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    owner: Mapped[str]
    model_id: Mapped[UUID] = mapped_column(ForeignKey("models.id"))
    number: Mapped[int]
    job_id: Mapped[UUID] = mapped_column(ForeignKey("training_jobs.id"))
    created_at: Mapped[datetime]
    report: Mapped[str]


class RelevanceVectorRow(Base):
    """One function of a version, for people; `inputs` of its row is JSON in the user's names and units.

    `input` is the encoded column that a function is which stands on no row. Where it has a weight for each class,
    `weight_means` is their means as JSON and `weight_mean` the one of greatest size. `shape` is JSON as well.
    """

    __tablename__ = "relevance_vectors"

    version_id: Mapped[UUID] = mapped_column(ForeignKey("model_versions.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    kind: Mapped[str]
    dataset_row: Mapped[int | None]
    inputs: Mapped[str | None]
    input: Mapped[str | None]
    moved: Mapped[bool] = mapped_column(server_default=false())
    weight_mean: Mapped[float]
    weight_sd: Mapped[float]
    alpha: Mapped[float]
    gamma: Mapped[float]
    weight_means: Mapped[str | None] = mapped_column(default=None)
    shape: Mapped[str | None] = mapped_column(default=None)
    phase: Mapped[float | None] = mapped_column(default=None)


class PosteriorRow(Base):
    """All that a version's predictions need, in the codec's bytes."""

    __tablename__ = "posteriors"

    version_id: Mapped[UUID] = mapped_column(ForeignKey("model_versions.id", ondelete="CASCADE"), primary_key=True)
    content: Mapped[bytes]


class WorkerRow(Base):
    """When a worker process was last heard of, by the database's clock, and whether it handed its work back."""

    __tablename__ = "workers"

    executor: Mapped[str] = mapped_column(primary_key=True)
    beat_at: Mapped[datetime]
    left_at: Mapped[datetime | None] = mapped_column(default=None)
