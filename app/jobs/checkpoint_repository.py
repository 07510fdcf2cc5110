"""Checkpoints of running fits, and their logs as bytes."""

from dataclasses import dataclass
from uuid import UUID

import numpy as np
from sqlalchemy import literal, select, update

from app.database.base import changed, insertion
from app.database.frame import Content, Stored, UnreadableBytesError, pack, read, unpack, write
from app.database.transaction import Transaction
from app.jobs.records import Checkpoint, StoredCheckpoint
from app.jobs.tables import JobCheckpointRow, JobRow
from relevance_bayes.core.algorithms.state import State
from relevance_bayes.core.models.fitting import LogEntry
from relevance_bayes.records.jobs import Resumption


@dataclass(frozen=True)
class CheckpointRepository:
    """Checkpoints of running fits: the newest of each job, deleted when the job ends."""

    tx: Transaction

    def keep(self, job_id: UUID, attempt: int, checkpoint: Checkpoint) -> bool:
        """Replace the job's checkpoint; return False, and store nothing, where the attempt is superseded, interrupted
        or has ended.

        Resets the count of attempts that died, so that a job which progresses with each attempt can end.
        """
        row, job = JobCheckpointRow, JobRow
        content, at, by = encode_fit_log(checkpoint.fit_log), self.tx.clock(), checkpoint.by
        columns = [row.job_id, row.attempt, row.at, row.by, row.content]
        values = [
            literal(value, column.type) for value, column in zip((attempt, at, by, content), columns[1:], strict=True)
        ]
        is_running = (job.state == "running", job.attempt == attempt, job.interrupted.is_(False))
        ours = select(job.id, *values).where(job.id == job_id, *is_running)
        put = insertion(self.tx.session, row).from_select([column.name for column in columns], ours)
        newer = {"attempt": attempt, "at": at, "by": by, "content": content}
        result = self.tx.session.execute(
            put.on_conflict_do_update(index_elements=["job_id"], set_=newer).returning(row.at)
        )
        if result.first() is None:
            return False
        changed(self.tx.session, update(job).where(job.id == job_id).values(deaths=0))
        return True

    def find(self, job_id: UUID, *, by: str) -> StoredCheckpoint | None:
        """Return the newest checkpoint, if the same program made it and its bytes can be read."""
        row, query = JobCheckpointRow, select(JobCheckpointRow)
        found = self.tx.session.scalars(query.where(row.job_id == job_id, row.by == by)).one_or_none()
        if found is None:
            return None
        try:
            fit_log = decode_fit_log(found.content)
        except UnreadableBytesError:  # the fit begins anew
            return None
        return StoredCheckpoint(Checkpoint(by, fit_log), Resumption(found.attempt, found.at))


def encode_fit_log(fit_log: tuple[LogEntry, ...]) -> bytes:
    """Return a log as bytes."""
    arrays: list[Stored] = []
    value = pack(fit_log, arrays)
    return write(Content.FIT_LOG, value, arrays, compressible=True)


def decode_fit_log(data: bytes) -> tuple[LogEntry, ...]:
    """Return a log from its bytes; raises UnreadableBytesError."""
    value, arrays = read(Content.FIT_LOG, data)
    entries = unpack(value, State, arrays)
    if not isinstance(entries, tuple):
        raise UnreadableBytesError(f"expected a log of fits, got {type(entries).__name__}")
    return tuple(_entry(entry) for entry in entries)


def _entry(entry: object) -> LogEntry:
    match entry:
        case State() | None:
            return entry
        case np.ndarray():
            return entry.astype(np.float64, copy=False)
    raise UnreadableBytesError(f"expected an entry of a log of fits, got {type(entry).__name__}")
