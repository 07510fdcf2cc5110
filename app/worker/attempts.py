"""One start of a job of any kind, as it meets the database: begun, looked at, told of, and settled."""

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import TypeVar
from uuid import UUID

from app.domain.errors import UnavailableError
from app.domain.job_states import FINISHED
from app.domain.jobs import Job, Problem, Progress
from app.domain.ports import OpenUnitOfWork, UnitOfWork
from app.domain.starts import Claim, Kept
from app.domain.tables import Block
from app.worker.insisting import HandedBack, insist
from app.worker.problems import of_death

T = TypeVar("T")


class NoLongerOurs(Exception):
    """The job's owner cancelled it, it was ended from outside, or another start has taken over."""


@dataclass(frozen=True)
class Records:
    """What the starts of a worker read and write down, also when the database is away, until it is to stop."""

    open_uow: OpenUnitOfWork
    stopping: Event

    def insist(self, action: Callable[[UnitOfWork], T]) -> T:
        """Do it in a transaction, again and again while the database is away; raises HandedBack."""
        return insist(self.open_uow, action, stopping=self.stopping)

    def try_once(self, action: Callable[[UnitOfWork], T], *, otherwise: T) -> T:
        """Do it in a transaction, or not at all while the database is away."""
        try:
            with self.open_uow() as uow:
                return action(uow)
        except UnavailableError:
            return otherwise

    def begin(self, job_id: UUID, *, by: str | None = None) -> "Attempt | None":
        """A start, from what one before it has kept with the same program, `by`; None when there is to be none.

        A job that died too often ends here. Raises HandedBack.
        """
        if self.stopping.is_set():
            raise HandedBack

        def claim(uow: UnitOfWork) -> tuple[Claim | None, Kept | None]:
            kept = None if by is None else uow.checkpoints.find(job_id, by=by)
            if kept is not None:
                return uow.jobs.claim(job_id, resumed_from=kept.resumption), kept
            result = uow.results.find(job_id)
            goes_on = result is not None and result.by == by and result.reached.rows > 0
            return uow.jobs.claim(job_id, resumed_from=result.resumption if result and goes_on else None), None

        claimed, kept = self.insist(claim)
        if claimed is None:
            return None
        if claimed.spent:
            self.insist(lambda uow: _end_as_dead(job_id, claimed.attempt, uow))
            return None
        return Attempt(self, job_id, claimed.attempt, kept)

    def settle(self, job_id: UUID) -> bool:
        """Whether a job has ended, as it does here where its owner asked for that; raises HandedBack."""
        job = self.insist(lambda uow: uow.jobs.find(job_id))
        if job is None or job.state in FINISHED:
            return True
        if job.cancel_requested_at is None:
            return False
        self.insist(lambda uow: uow.jobs.cancelled(job_id, job.attempt))
        return True


@dataclass(frozen=True)
class Attempt:
    """A start of a job: its `number`, from 1, and what it goes on from."""

    records: Records
    job_id: UUID
    number: int
    kept: Kept | None = None

    def job(self) -> Job:
        """The job; raises NoLongerOurs where it is gone, HandedBack."""
        job = self.records.insist(lambda uow: uow.jobs.find(self.job_id))
        if job is None:
            raise NoLongerOurs
        return job

    def look(self) -> None:
        """Raises NoLongerOurs, HandedBack."""
        if self.records.stopping.is_set():
            raise HandedBack
        if not self.records.try_once(lambda uow: uow.jobs.is_wanted(self.job_id, self.number), otherwise=True):
            raise NoLongerOurs

    def tell(self, progress: Progress) -> None:
        """Say how far it is, unless the database is away; raises NoLongerOurs."""
        told = self.records.try_once(lambda uow: uow.jobs.progress(self.job_id, self.number, progress), otherwise=True)
        if not told:
            raise NoLongerOurs

    def blocks(self, dataset_id: UUID, *, first: int = 0) -> Iterator[tuple[int, Block]]:
        """The blocks of a dataset from number `first` on, each with its first row; between two it looks.

        Raises NoLongerOurs, HandedBack.
        """
        for number in itertools.count(first):
            self.look()
            found = self.records.insist(partial(_block, dataset_id, number))
            if found is None:
                return
            yield found

    def holding(self, dataset_id: UUID, row: int) -> tuple[int, Block]:
        """The block in which a row stands, with its first row; raises NoLongerOurs, HandedBack."""

        def read(uow: UnitOfWork) -> tuple[int, Block]:
            found = uow.datasets.block(dataset_id, uow.datasets.block_holding(dataset_id, row))
            if found is None:
                raise NoLongerOurs
            return found

        return self.records.insist(read)

    def fail(self, problem: Problem) -> None:
        """Record why it failed, unless another start has taken over; raises HandedBack."""
        self.records.insist(lambda uow: uow.jobs.fail(self.job_id, self.number, problem))

    def hand_back(self) -> None:
        """Leave it to others at once, if the database can be told."""
        self.records.try_once(lambda uow: uow.jobs.hand_back(self.job_id, self.number), otherwise=None)


class Pace:
    """When it is time to say again how far a job is, which costs a transaction."""

    def __init__(self, seconds: float, *, now: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._now = now
        self._last = float("-inf")

    def is_due(self) -> bool:
        """Whether so many seconds have passed since it was due the last time."""
        now = self._now()
        due = now - self._last >= self._seconds
        if due:
            self._last = now
        return due


def _end_as_dead(job_id: UUID, attempt: int, uow: UnitOfWork) -> None:
    job = uow.jobs.find(job_id)
    if job is not None:
        uow.jobs.fail(job_id, attempt, of_death(job))


def _block(dataset_id: UUID, number: int, uow: UnitOfWork) -> tuple[int, Block] | None:
    return uow.datasets.block(dataset_id, number)
