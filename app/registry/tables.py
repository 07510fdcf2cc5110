"""The tables of models, their versions and posteriors."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.database.base import Base

NO_TARGET = ""
"""The stored target of a task that has none."""


class ModelRow(Base):
    """A model and its counter of versions. A deleted one keeps its row (`deleted_at`): numbers are not reused."""

    __tablename__ = "models"
    __table_args__ = (
        UniqueConstraint("owner", "name"),
        CheckConstraint("last_number >= 0", name="counts"),
        CheckConstraint("record_share BETWEEN 0 AND 1", name="record_share"),
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
    description: Mapped[str | None] = mapped_column(default=None)
    record_share: Mapped[float] = mapped_column(default=0.0)


class ModelVersionRow(Base):
    """A version, of which only the description changes; `report` is JSON, and so are `diagnostics`, apart from it since
    they are long.

    A job makes at most one version; an imported version has no job.
    """

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
    job_id: Mapped[UUID | None] = mapped_column(ForeignKey("jobs.id"))
    created_at: Mapped[datetime]
    report: Mapped[str]
    description: Mapped[str | None] = mapped_column(default=None)
    parent: Mapped[int | None] = mapped_column(default=None)
    diagnostics: Mapped[str | None] = mapped_column(default=None, deferred=True)


class RelevanceVectorRow(Base):
    """A function of a version, for listing; `inputs` of its row is JSON in the user's names and units.

    `input` is the encoded column of a function that has no row. Where it has a weight for each class, `weight_means` is
    their means as JSON and `weight_mean` the one of greatest absolute value. `shape` is JSON as well.
    """

    __tablename__ = "relevance_vectors"

    version_id: Mapped[UUID] = mapped_column(ForeignKey("model_versions.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    kind: Mapped[str]
    dataset_row: Mapped[int | None]
    inputs: Mapped[str | None]
    input: Mapped[str | None]
    moved: Mapped[bool] = mapped_column()
    weight_mean: Mapped[float]
    weight_sd: Mapped[float]
    alpha: Mapped[float]
    gamma: Mapped[float]
    weight_means: Mapped[str | None] = mapped_column(default=None)
    shape: Mapped[str | None] = mapped_column(default=None)
    phase: Mapped[float | None] = mapped_column(default=None)
    member: Mapped[int | None] = mapped_column(default=None)
    function: Mapped[str] = mapped_column(default="mean")


class PosteriorRow(Base):
    """The predictor of a version, encoded by the codec."""

    __tablename__ = "posteriors"

    version_id: Mapped[UUID] = mapped_column(ForeignKey("model_versions.id", ondelete="CASCADE"), primary_key=True)
    content: Mapped[bytes]


class AliasMoveRow(Base):
    """A move of an alias, numbered from 1; versions are stored as numbers, since they may be deleted."""

    __tablename__ = "alias_moves"
    __table_args__ = (
        UniqueConstraint("model_id", "alias", "number"),
        CheckConstraint("number >= 1", name="counts"),
        CheckConstraint("from_version IS NOT NULL OR to_version IS NOT NULL", name="versions"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    model_id: Mapped[UUID] = mapped_column(ForeignKey("models.id"))
    alias: Mapped[str]
    number: Mapped[int]
    at: Mapped[datetime]
    by: Mapped[str]
    from_version: Mapped[int | None]
    to_version: Mapped[int | None]
    reason: Mapped[str | None]


class ModelAliasRow(Base):
    """The version that an alias points to; its newest move has the time and the reason."""

    __tablename__ = "model_aliases"
    __table_args__ = (Index(None, "version_id"), Index(None, "move_id", unique=True))

    model_id: Mapped[UUID] = mapped_column(ForeignKey("models.id"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    version_id: Mapped[UUID] = mapped_column(ForeignKey("model_versions.id"))
    move_id: Mapped[UUID] = mapped_column(ForeignKey("alias_moves.id"))


class ModelTagRow(Base):
    """A tag of a model."""

    __tablename__ = "model_tags"
    __table_args__ = (Index(None, "name", "value"),)

    of: Mapped[UUID] = mapped_column("model_id", ForeignKey("models.id"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str]


class VersionTagRow(Base):
    """A tag of a version."""

    __tablename__ = "version_tags"
    __table_args__ = (Index(None, "name", "value"),)

    of: Mapped[UUID] = mapped_column(
        "version_id", ForeignKey("model_versions.id", ondelete="CASCADE"), primary_key=True
    )
    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str]
