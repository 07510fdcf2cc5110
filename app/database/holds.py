"""Holds of unfinished jobs on what they need.

Whoever holds something, or deletes it, locks its row before, so that one of the two sees the other.
"""

from typing import Literal
from uuid import UUID

from sqlalchemy import delete, func, insert, select

from app.database.changes import changed
from app.database.hold_tables import JobHoldRow
from app.database.transaction import Transaction

Held = Literal["dataset", "model", "version"]

CANCEL = "cancel them or let them end."


def hold(tx: Transaction, job_id: UUID, owner: str, kind: Held, resource: UUID | str) -> None:
    """Record that a job needs this until it ends."""
    tx.session.execute(insert(JobHoldRow).values(job_id=job_id, owner=owner, kind=kind, resource=str(resource)))


def count_holds(tx: Transaction, owner: str, kind: Held, resource: UUID | str) -> int:
    """Return how many unfinished jobs need this."""
    row = JobHoldRow
    held = select(func.count()).where(row.owner == owner, row.kind == kind, row.resource == str(resource))
    return tx.session.scalar(held) or 0


def release(tx: Transaction, job_id: UUID) -> None:
    """Remove the holds of a job that has ended."""
    changed(tx.session, delete(JobHoldRow).where(JobHoldRow.job_id == job_id))
