"""The tables of tags of models and versions."""

from uuid import UUID

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from app.database.base import Base


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
