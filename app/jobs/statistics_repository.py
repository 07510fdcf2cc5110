"""Statistics of jobs and workers: unfinished jobs, counts and times of an owner, totals of ended ones, heartbeats."""

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, func, or_, select, update

from app import __version__
from app.database.base import DatabaseNow, SecondsSince, changed, insertion
from app.database.revision import EXPECTED
from app.database.transaction import Subscriber, Transaction, on
from app.jobs.records import ALL, JobActivity, JobEnded, JobFilter, LastHeartbeat, SeenWorker, WorkerUse
from app.jobs.repository import STATE, selected
from app.jobs.tables import JobRow, JobTotalRow, WorkerRow
from relevance_bayes.records.jobs import MOVES, UNFINISHED, JobCounts, JobState

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


BOUNDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 14400.0, 86400.0)
"""Seconds from its first start to its end that the jobs of each bucket took at most."""

NEVER_STARTED = 0.0
"""The bound of jobs that ended before they were started."""


@dataclass(frozen=True)
class JobStatisticsRepository:
    """Statistics of the jobs of an owner."""

    tx: Transaction

    def counts(self, owner: str, *, which: JobFilter = ALL) -> JobCounts:
        """Return the number of jobs that the filter selects, by state."""
        job = JobRow
        query = select(job.state, func.count().label("jobs")).where(job.owner == owner, *selected(which))
        rows = self.tx.session.execute(query.group_by(job.state))
        found = {**dict.fromkeys(MOVES, 0), **{row.state: row.jobs for row in rows}}
        return JobCounts(**found)

    def training_times(self, owner: str, *, ended_after: datetime) -> tuple[tuple[datetime, datetime | None], ...]:
        """Return the first start and the end (None: not yet) of an owner's training jobs that ended after a time."""
        job = JobRow
        recent = or_(job.finished_at.is_(None), job.finished_at > ended_after)
        mine = (job.owner == owner, job.kind == "training", job.started_at.is_not(None), recent)
        rows = self.tx.session.execute(select(job.started_at, job.finished_at).where(*mine))
        return tuple((started_at, ended_at) for started_at, ended_at in rows if started_at is not None)


@dataclass(frozen=True)
class Total:
    """The number of jobs, and the seconds that they took together."""

    jobs: int
    seconds: float


@dataclass(frozen=True)
class TotalRepository:
    """Totals by kind, final state and the bound of the duration."""

    tx: Transaction

    def add(self, ended: JobEnded) -> None:
        """Add a job that has ended."""
        seconds, bound = 0.0, NEVER_STARTED
        if ended.started_at is not None:
            seconds = max(0.0, (ended.at - ended.started_at).total_seconds())
            bound = (*BOUNDS, math.inf)[bisect_left(BOUNDS, seconds)]
        first = insertion(self.tx.session, JobTotalRow).values(
            kind=ended.kind, state=ended.state, bound=bound, jobs=1, seconds=seconds
        )
        self.tx.session.execute(
            first.on_conflict_do_update(
                index_elements=["kind", "state", "bound"],
                set_={"jobs": JobTotalRow.jobs + 1, "seconds": JobTotalRow.seconds + seconds},
            )
        )

    def all(self) -> Mapping[tuple[str, str, float], Total]:
        """Return all totals, by kind, state and bound."""
        row = JobTotalRow
        rows = self.tx.session.execute(select(row.kind, row.state, row.bound, row.jobs, row.seconds))
        return {(one.kind, one.state, one.bound): Total(one.jobs, one.seconds) for one in rows}


def _add(tx: Transaction, ended: JobEnded) -> None:
    TotalRepository(tx).add(ended)


SUBSCRIBERS: tuple[Subscriber, ...] = (on(JobEnded, _add),)


@dataclass(frozen=True)
class WorkerRepository:
    """Heartbeats of worker processes, by the database's clock."""

    tx: Transaction

    def record_heartbeat(self, executor: str, *, speed: float | None = None, use: WorkerUse | None = None) -> None:
        """Record a heartbeat with the worker's use, the first one with its speed and release; a worker that has left
        stays so."""
        changing: dict[str, object] = {"heartbeat_at": DatabaseNow()} | ({} if use is None else vars(use))
        first = insertion(self.tx.session, WorkerRow).values(
            executor=executor, speed=speed, release=__version__, revision=EXPECTED, **changing
        )
        self.tx.session.execute(first.on_conflict_do_update(index_elements=["executor"], set_=changing))

    def leave(self, executor: str) -> None:
        """Record that a worker has left: its jobs may be recovered at once."""
        changed(self.tx.session, update(WorkerRow).where(WorkerRow.executor == executor).values(left_at=DatabaseNow()))

    def last_heartbeats(self) -> Mapping[str, LastHeartbeat]:
        """Return the last heartbeat of each recorded executor."""
        rows = self.tx.session.execute(select(WorkerRow.executor, WorkerRow.heartbeat_at, WorkerRow.left_at))
        return {row.executor: LastHeartbeat(row.heartbeat_at, left=row.left_at is not None) for row in rows}

    def forget(self, executor: str) -> None:
        """Delete an executor's row, once it has no job to be recovered."""
        changed(self.tx.session, delete(WorkerRow).where(WorkerRow.executor == executor))

    def alive(self, *, within: float) -> tuple[str, ...]:
        """Return the executors with a heartbeat within so many seconds that have not left."""
        recent = SecondsSince(WorkerRow.heartbeat_at) <= within
        here = select(WorkerRow.executor).where(WorkerRow.left_at.is_(None), recent).order_by(WorkerRow.executor)
        return tuple(self.tx.session.scalars(here))

    def seen(self, *, within: float) -> tuple[SeenWorker, ...]:
        """Return the workers that have not left; those with a heartbeat within so many seconds are alive."""
        row = WorkerRow
        columns = (row.executor, row.slots, row.running, row.busy_seconds, SecondsSince(row.heartbeat_at) <= within)
        query = select(*columns).where(row.left_at.is_(None)).order_by(row.executor)
        return tuple(
            SeenWorker(executor, bool(is_alive), _use(slots, running, busy_seconds))
            for executor, slots, running, busy_seconds, is_alive in self.tx.session.execute(query)
        )

    def speed(self, *, within: float) -> float | None:
        """Return the mean speed of the workers that are alive, as `alive`; None where none has measured its own."""
        recent = SecondsSince(WorkerRow.heartbeat_at) <= within
        return self.tx.session.scalar(select(func.avg(WorkerRow.speed)).where(WorkerRow.left_at.is_(None), recent))


def _use(slots: int | None, running: int | None, busy_seconds: float | None) -> WorkerUse | None:
    if slots is None or running is None or busy_seconds is None:
        return None
    return WorkerUse(slots, running, busy_seconds)
