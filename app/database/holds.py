"""Holds of unfinished jobs on the resources they need.

The row of the resource is locked before it is held or deleted, so that the two can't miss each other.
"""

from typing import Literal, get_args
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, delete, func, insert, select
from sqlalchemy.orm import Mapped, mapped_column

from app.database.base import Base, one_of
from app.database.changes import changed
from app.database.transaction import Transaction

Held = Literal["dataset", "model", "version"]


class JobHoldRow(Base):
    """A dataset, a model or a version that can't be deleted while an unfinished job needs it.

    `resource` is the id of a dataset or a version, or the name of a model, which need not exist yet.
    """

    __tablename__ = "job_holds"
    __table_args__ = (
        CheckConstraint(one_of("kind", frozenset(get_args(Held))), name="kind"),
        Index(None, "owner", "kind", "resource"),
    )

    job_id: Mapped[UUID] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)
    resource: Mapped[str] = mapped_column(primary_key=True)
    owner: Mapped[str]


CANCEL = "cancel them or wait until they have ended."


def hold(tx: Transaction, job_id: UUID, owner: str, kind: Held, resource: UUID | str) -> None:
    """Record that a job needs a resource until it ends."""
    tx.session.execute(insert(JobHoldRow).values(job_id=job_id, owner=owner, kind=kind, resource=str(resource)))


def count_holds(tx: Transaction, owner: str, kind: Held, resource: UUID | str) -> int:
    """Return the number of unfinished jobs that need a resource."""
    row = JobHoldRow
    held = select(func.count()).where(row.owner == owner, row.kind == kind, row.resource == str(resource))
    return tx.session.scalar(held) or 0


def release(tx: Transaction, job_id: UUID) -> None:
    """Remove the holds of a job that has ended."""
    changed(tx.session, delete(JobHoldRow).where(JobHoldRow.job_id == job_id))
