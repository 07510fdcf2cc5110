"""The tables of aliases and their moves."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.database.base import Base


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
