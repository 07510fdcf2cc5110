"""The tables of the audit."""

from datetime import datetime

from sqlalchemy import BigInteger, Index
from sqlalchemy.orm import Mapped, mapped_column

from app.database.base import Base


class AuditChainRow(Base):
    """The chain of an owner: number and hash of its last entry, which a transaction that appends to it locks.

    Entries up to number `expired` are deleted, or about to be.
    """

    __tablename__ = "audit_chains"

    owner: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(BigInteger)
    hash: Mapped[str]
    expired: Mapped[int] = mapped_column(BigInteger)


class AuditEntryRow(Base):
    """An entry of an owner's chain; `details` is JSON. Rows are inserted and deleted, and never updated."""

    __tablename__ = "audit_entries"
    __table_args__ = (
        Index(None, "owner", "at"),
        Index(None, "owner", "action", "number"),
        Index(None, "owner", "actor_id", "number"),
        Index(None, "owner", "resource", "number"),
    )

    owner: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    at: Mapped[datetime]
    action: Mapped[str]
    result: Mapped[str]
    actor: Mapped[str]
    actor_id: Mapped[str | None]
    resource: Mapped[str]
    address: Mapped[str | None]
    user_agent: Mapped[str | None]
    request_id: Mapped[str | None]
    details: Mapped[str]
    previous_hash: Mapped[str]
    hash: Mapped[str]
