"""Idempotency keys, and the heartbeats of API processes."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, Index
from sqlalchemy.orm import Mapped, mapped_column

from app.database.base import Base


class RequestKeyRow(Base):
    """A creating request with its key: processed by `holder`, or completed.

    `updated_at`, by the database's clock, is when it was completed or its lease last extended. `headers` is
    JSON; `content` is the body of the response, compressed.
    """

    __tablename__ = "request_keys"
    __table_args__ = (
        CheckConstraint(
            "(status IS NULL) = (headers IS NULL) AND (status IS NULL) = (content IS NULL)", name="response"
        ),
        CheckConstraint("status IS NOT NULL OR holder IS NOT NULL", name="holder"),
        Index(None, "updated_at"),
    )

    owner: Mapped[str] = mapped_column(primary_key=True)
    scope: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    fingerprint: Mapped[str]
    updated_at: Mapped[datetime]
    holder: Mapped[UUID | None] = mapped_column(default=None)
    status: Mapped[int | None] = mapped_column(default=None)
    headers: Mapped[str | None] = mapped_column(default=None)
    content: Mapped[bytes | None] = mapped_column(default=None)


class ApiProcessRow(Base):
    """The last heartbeat of an API process, by the database's clock, its program's release, and the `revision` of the
    tables which that expects."""

    __tablename__ = "api_processes"

    process: Mapped[str] = mapped_column(primary_key=True)
    heartbeat_at: Mapped[datetime]
    release: Mapped[str]
    revision: Mapped[str]
