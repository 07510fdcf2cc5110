"""The tables of the limits of owners, and of the demand that processes publish."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from app.database.base import Base


class OwnerLimitsRow(Base):
    """The limits that are set for an owner (JSON by name, null: none); the others are those of the settings."""

    __tablename__ = "owner_limits"

    owner: Mapped[str] = mapped_column(primary_key=True)
    limits: Mapped[str]
    changed_at: Mapped[datetime]


class RateDemandRow(Base):
    """The requests and rows a second that an owner demands of one process, by the database's clock."""

    __tablename__ = "rate_demands"
    __table_args__ = (Index(None, "process"), Index(None, "published_at"))

    owner: Mapped[str] = mapped_column(primary_key=True)
    process: Mapped[UUID] = mapped_column(primary_key=True)
    requests: Mapped[float]
    rows: Mapped[float]
    published_at: Mapped[datetime]
