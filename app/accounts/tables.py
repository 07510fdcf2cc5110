"""The tables of API keys, sessions and members, of the limits of owners, and of the demand that processes publish."""

from datetime import datetime
from functools import cache
from uuid import UUID

from pydantic import TypeAdapter
from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from app.database.base import Base, Document
from relevance_bayes.records.accounts import KeyScope
from relevance_bayes.records.members import ProjectRole, Role


class ApiKeyRow(Base):
    """An API key; `digest` is the SHA-256 digest of the key, `scopes` is JSON. Revoked keys are kept."""

    __tablename__ = "api_keys"
    __table_args__ = (
        Index(None, "owner", "id"),
        Index(None, "digest", unique=True),
        Index(None, "created_at"),
        Index(None, "revoked_at"),
        Index(None, "expires_at"),
        Index(None, "owner", "made_by"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    owner: Mapped[str]
    name: Mapped[str]
    prefix: Mapped[str]
    digest: Mapped[bytes]
    scopes: Mapped[str]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None] = mapped_column(default=None)
    made_by: Mapped[str | None] = mapped_column(default=None)


class SessionRow(Base):
    """A session made from an API key, or, without `key_id`, from a token; `digest` is that of its cookie.

    `changed_at`, by the database's clock, is when it was created or ended. One that has ended is kept for a while.
    It acts in a `project` that `owner` is a member of; without one, in its own.
    """

    __tablename__ = "sessions"
    __table_args__ = (
        Index(None, "owner", "key_id", "created_at"),
        Index(None, "expires_at"),
        Index(None, "changed_at"),
    )

    digest: Mapped[bytes] = mapped_column(primary_key=True)
    owner: Mapped[str]
    scopes: Mapped[str]
    key_id: Mapped[UUID | None] = mapped_column(ForeignKey("api_keys.id", ondelete="CASCADE"))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    changed_at: Mapped[datetime]
    is_ended: Mapped[bool] = mapped_column(default=False)
    project: Mapped[str | None] = mapped_column(default=None)


class MemberRow(Base):
    """The role of a `subject`, another owner, in the project of `owner`."""

    __tablename__ = "members"
    __table_args__ = (Index(None, "subject", "owner"),)

    owner: Mapped[str] = mapped_column(primary_key=True)
    subject: Mapped[str] = mapped_column(primary_key=True)
    role: Mapped[str]
    created_at: Mapped[datetime]


class InvitationRow(Base):
    """The role that a `subject` will have in the project of `owner` once it accepts; it is no member before."""

    __tablename__ = "invitations"
    __table_args__ = (Index(None, "subject", "owner"),)

    owner: Mapped[str] = mapped_column(primary_key=True)
    subject: Mapped[str] = mapped_column(primary_key=True)
    role: Mapped[str]
    created_at: Mapped[datetime]


SCOPES: Document[tuple[KeyScope, ...]] = Document(TypeAdapter(tuple[KeyScope, ...]))
ROLE: TypeAdapter[Role] = TypeAdapter(Role)
PROJECT_ROLE: TypeAdapter[ProjectRole] = TypeAdapter(ProjectRole)


@cache
def scopes_of(stored: str) -> frozenset[KeyScope]:
    """Return stored scopes as a set, the same one for the same text."""
    return frozenset(SCOPES.read(stored))


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
