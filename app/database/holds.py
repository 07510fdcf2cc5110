"""Holds of unfinished jobs on the resources they need.

The row of the resource is locked before it is held or deleted, so that the two can't miss each other.
"""

from uuid import UUID

from sqlalchemy import delete, func, insert, select

from app.database.changes import changed
from app.database.hold_tables import Held, JobHoldRow
from app.database.transaction import Transaction

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
