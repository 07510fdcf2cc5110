"""Unfinished jobs of all owners, as workers, retention and the limit of an owner read them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import func, select

from app.database.column_types import SecondsSince
from app.database.transaction import Transaction
from app.jobs.histories import STATE
from app.jobs.records import JobActivity
from app.jobs.tables import JobRow
from relevance_bayes.records.jobs import UNFINISHED, JobState

ACTIVITY = select(
    select(JobRow.id).where(JobRow.state == "queued").exists(),
    select(JobRow.id).where(JobRow.state.in_(UNFINISHED)).exists(),
)
"""The statement of each heartbeat, compiled once: its compilation takes as long as its execution."""


@dataclass(frozen=True)
class BacklogRepository:
    """Jobs that have not ended."""

    tx: Transaction

    def page(self, *, after: UUID | None, limit: int) -> tuple[tuple[UUID, JobState, int], ...]:
        """Return id, state and attempt of unfinished jobs after an id, oldest first."""
        job = JobRow
        query = select(job.id, job.state, job.attempt).where(job.state.in_(UNFINISHED))
        if after is not None:
            query = query.where(job.id > after)
        rows = self.tx.session.execute(query.order_by(job.id).limit(limit))
        return tuple((row.id, STATE.validate_python(row.state), row.attempt) for row in rows)

    def among(self, job_ids: Sequence[UUID]) -> frozenset[UUID]:
        """Return those of these jobs that have not ended."""
        job = JobRow
        return frozenset(self.tx.session.scalars(select(job.id).where(job.id.in_(job_ids), job.finished_at.is_(None))))

    def count(self, owner: str) -> int:
        """Return the number of an owner's unfinished jobs; the index counts ten thousand in about a millisecond."""
        mine = select(func.count()).where(JobRow.owner == owner, JobRow.finished_at.is_(None))
        return self.tx.session.scalar(mine) or 0

    def models_in_training(self, owner: str) -> frozenset[str]:
        """Return the names of the models of an owner's unfinished training jobs."""
        job = JobRow
        mine = (job.owner == owner, job.finished_at.is_(None), job.kind == "training")
        return frozenset(self.tx.session.scalars(select(job.for_model).where(*mine).distinct()))

    def by_state(self) -> Mapping[tuple[str, str], tuple[int, float]]:
        """Return the number of unfinished jobs and the age of the oldest in seconds, by kind and state."""
        job = JobRow
        age = SecondsSince(func.min(job.created_at))
        counted = select(job.kind, job.state, func.count().label("jobs"), age.label("age"))
        rows = self.tx.session.execute(counted.where(job.state.in_(UNFINISHED)).group_by(job.kind, job.state))
        return {(row.kind, row.state): (row.jobs, max(0.0, row.age)) for row in rows}

    def activity(self) -> JobActivity:
        """Return whether a job is queued, and whether one has not ended; each is one index lookup."""
        is_waiting, is_unfinished = self.tx.session.execute(ACTIVITY).one()
        return JobActivity(is_waiting=is_waiting, is_unfinished=is_unfinished)
