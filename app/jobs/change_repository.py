"""Changes of an owner's jobs, numbered in the order in which they are committed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from sqlalchemy import select, update

from app.database.changes import changed, insertion
from app.database.notifier import notify
from app.database.transaction import Transaction
from app.jobs import histories
from app.jobs.records import ALL, JobChanges, JobFilter, changes_id
from app.jobs.tables import JobChangeRow, JobRow


@dataclass(frozen=True)
class JobChangeRepository:
    """Changes of jobs. A job has the number of its last change, so that a reader finds all that changed after one.

    A number is taken under the lock of the owner's counter, as the last step of a transaction, after its audit: who
    sees a number sees every change with a smaller one.
    """

    tx: Transaction

    def record(self, owner: str, job_id: UUID) -> None:
        """Number a change of a job at the end of this transaction, and notify listeners."""
        self.tx.before_commit((owner, str(job_id)), partial(self._number, owner, job_id))

    def last(self, owner: str) -> int:
        """Return the number of the last change; 0: none yet."""
        number = select(JobChangeRow.number).where(JobChangeRow.id == changes_id(owner))
        return self.tx.session.scalar(number) or 0

    def after(self, owner: str, number: int, *, limit: int, which: JobFilter = ALL) -> JobChanges:
        """Return the jobs that changed after a number, in the order of their last changes, as they are now."""
        # Read first: each change up to it is seen by the second query.
        last = self.last(owner)
        job = JobRow
        query = select(job).where(job.owner == owner, job.change > number, *histories.selected(which))
        found = histories.summaries(self.tx.session, query.order_by(job.change).limit(limit))
        if found and (len(found) == limit or found[-1].change > last):
            last = found[-1].change
        return JobChanges(tuple(found), last)

    def numbers(self, ids: Sequence[UUID]) -> Mapping[UUID, int]:
        """Return the last numbers of owners, by the ids of `changes_id`; those without one are left out."""
        query = select(JobChangeRow.id, JobChangeRow.number).where(JobChangeRow.id.in_(ids))
        return {row.id: row.number for row in self.tx.session.execute(query)}

    def _number(self, owner: str, job_id: UUID) -> None:
        session, listeners = self.tx.session, changes_id(owner)
        first = insertion(session, JobChangeRow).values(id=listeners, owner=owner, number=1)
        following = first.on_conflict_do_update(index_elements=["id"], set_={"number": JobChangeRow.number + 1})
        number = session.scalar(following.returning(JobChangeRow.number))
        changed(session, update(JobRow).where(JobRow.id == job_id).values(change=number))
        notify(session, listeners)
