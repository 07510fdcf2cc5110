"""Idempotency keys."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, Index
from sqlalchemy.orm import Mapped, mapped_column

from app.database.base import Base


class RequestKeyRow(Base):
    """A creating request with its key: being done by `holder`, or answered.

    `heard_at` is when it was answered, or when its holder was last heard of, by the database's clock. `headers` is
    JSON; `content` is the answer's body, packed.
    """

    __tablename__ = "request_keys"
    __table_args__ = (
        CheckConstraint("(status IS NULL) = (headers IS NULL) AND (status IS NULL) = (content IS NULL)", name="answer"),
        CheckConstraint("status IS NOT NULL OR holder IS NOT NULL", name="holder"),
        Index(None, "heard_at"),
    )

    owner: Mapped[str] = mapped_column(primary_key=True)
    scope: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    fingerprint: Mapped[str]
    heard_at: Mapped[datetime]
    holder: Mapped[UUID | None] = mapped_column(default=None)
    status: Mapped[int | None] = mapped_column(default=None)
    headers: Mapped[str | None] = mapped_column(default=None)
    content: Mapped[bytes | None] = mapped_column(default=None)
