"""The table of API keys."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from app.database.base import Base


class ApiKeyRow(Base):
    """An API key; `digest` is the SHA-256 digest of the key, `scopes` is JSON. Revoked keys are kept."""

    __tablename__ = "api_keys"
    __table_args__ = (Index(None, "owner", "id"), Index(None, "digest", unique=True))

    id: Mapped[UUID] = mapped_column(primary_key=True)
    owner: Mapped[str]
    name: Mapped[str]
    prefix: Mapped[str]
    digest: Mapped[bytes]
    scopes: Mapped[str]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None] = mapped_column(default=None)
