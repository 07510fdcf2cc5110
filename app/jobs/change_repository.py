"""Changes of an owner's jobs, numbered in the order in which they are committed."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from uuid import UUID

from sqlalchemy import Connection, select, update

from app.database.changes import changed, insertion
from app.database.notifier import notify
from app.database.transaction import Transaction
from app.jobs.histories import read_summaries, selected
from app.jobs.records import ALL, JobChanges, JobFilter, Position, changes_id
from app.jobs.tables import JobChangeRow, JobRow
from relevance_bayes.records.errors import NotFoundError

EPOCH_BYTES = 8


@dataclass(frozen=True)
class JobChangeRepository:
    """Changes of jobs. A job has the number of its last change, so that a reader finds all that changed after one.

    A number is taken under the lock of the owner's counter, as the last step of a transaction, after its audit: who
    sees a number sees every change with a smaller one.
    """

    tx: Transaction

    def record(self, owner: str, job_id: UUID) -> None:
        """Number a change of a job at the end of this transaction, and notify those who wait for it, or for any of its
        owner's jobs."""
        self.tx.before_commit((owner, str(job_id)), partial(self._number, owner, job_id))

    def last(self, owner: str) -> Position:
        """Return the position of the last change; 0: none yet."""
        row = JobChangeRow
        query = select(row.number, row.epoch).where(row.id == changes_id(owner))
        found = self.tx.session.execute(query).one_or_none()
        return Position() if found is None else Position(found.number, found.epoch)

    def after(self, owner: str, after: Position, *, limit: int, which: JobFilter = ALL) -> JobChanges:
        """Return the jobs that changed after a position, in the order of their last changes, as they are now.

        Raises NotFoundError where the position is that of a change which this database does not have.
        """
        # Read first: each change up to it is seen by the second query.
        last = self.last(owner)
        if after.number and (after.epoch != last.epoch or after.number > last.number):
            raise NotFoundError(f"There is no change {after} in this database: get the list of jobs again.")
        if not last.number:
            return JobChanges((), last)
        job = JobRow
        query = select(job).where(job.owner == owner, job.change > after.number, *selected(which))
        found = read_summaries(self.tx.session, query.order_by(job.change).limit(limit))
        if found and (len(found) == limit or found[-1].change > last.number):
            last = replace(last, number=found[-1].change)
        return JobChanges(tuple(found), last)

    def numbers(self, ids: Sequence[UUID]) -> Mapping[UUID, int]:
        """Return the last numbers of owners, by the ids of `changes_id`; those without one are left out."""
        query = select(JobChangeRow.id, JobChangeRow.number).where(JobChangeRow.id.in_(ids))
        return {row.id: row.number for row in self.tx.session.execute(query)}

    def _number(self, owner: str, job_id: UUID) -> None:
        session, counter = self.tx.session, changes_id(owner)
        epoch = secrets.token_hex(EPOCH_BYTES)
        first = insertion(session, JobChangeRow).values(id=counter, owner=owner, epoch=epoch, number=1)
        following = first.on_conflict_do_update(index_elements=["id"], set_={"number": JobChangeRow.number + 1})
        number = session.scalar(following.returning(JobChangeRow.number))
        changed(session, update(JobRow).where(JobRow.id == job_id).values(change=number))
        notify(session.connection(), job_id, counter)


def renew_epochs(connection: Connection) -> None:
    """Replace the epochs of all owners: positions that readers have are refused from now on."""
    connection.execute(update(JobChangeRow).values(epoch=secrets.token_hex(EPOCH_BYTES)))
