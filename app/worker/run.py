"""One start of a job: claim it, write its rows down, fit them in a child, record how that ended."""

import itertools
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event
from typing import TypeVar
from uuid import UUID

from app.domain.datasets import Dataset
from app.domain.errors import ConflictError, TrainingFailedError, UnavailableError
from app.domain.jobs import FINISHED, Problem, Progress, TrainingJob
from app.domain.models import Learned, NewVersion
from app.domain.ports import OpenUnitOfWork, UnitOfWork
from app.domain.tables import Block
from app.sparse_bayes.selection import Step
from app.worker.child.process import Failure
from app.worker.child.tasks import Result
from app.worker.fits import Fit, prepare
from app.worker.pool import ChildDied, Pool
from app.worker.problems import DIED, MOST_STARTS, name_taken, of_error, of_failure
from app.worker.spool import Spool

logger = logging.getLogger(__name__)

LOOK_SECONDS = 0.25
"""How often a running fit's owner is heard: a cancel is seen after this."""

RECHECK_SECONDS = 2.0
"""How often a start asks whether the job is still its own."""

RETRY_SECONDS = 1.0
RECORDINGS = 3

T = TypeVar("T")


class HandedBack(Exception):
    """The worker is to stop: the job stays unfinished, for others."""


class NoLongerOurs(Exception):
    """The job's owner cancelled it, it was ended from outside, or another start has taken over."""


@dataclass(frozen=True)
class Runner:
    """Runs jobs, any number at a time; a lost database is waited for, while the child computes on."""

    open_uow: OpenUnitOfWork
    pool: Pool
    spool: Spool
    most_cells: int
    stopping: Event

    def __call__(self, job_id: UUID) -> bool:
        """Run a job to its end; False when it goes on elsewhere, or will."""
        try:
            while (attempt := self._claim(job_id)) is not None:
                start = Start(self, job_id, attempt)
                outcome = start.fit() if attempt <= MOST_STARTS else DIED
                if isinstance(outcome, ChildDied):
                    logger.warning("a fit's process died", extra={"job": job_id, "attempt": attempt, "how": outcome})
                    if attempt < MOST_STARTS:
                        continue
                    outcome = DIED
                start.record(outcome)
                break
            return self._settle(job_id)
        except HandedBack:
            return False

    def insist(self, action: Callable[[UnitOfWork], T]) -> T:
        """Do it in a transaction, again and again while the database is away; raises HandedBack."""
        while True:
            try:
                with self.open_uow() as uow:
                    return action(uow)
            except UnavailableError:
                if self.stopping.wait(RETRY_SECONDS):
                    raise HandedBack from None

    def _claim(self, job_id: UUID) -> int | None:
        if self.stopping.is_set():
            raise HandedBack
        return self.insist(lambda uow: uow.jobs.claim(job_id))

    def _settle(self, job_id: UUID) -> bool:
        job = self.insist(lambda uow: uow.jobs.find(job_id))
        if job is None or job.state in FINISHED:
            return True
        if job.cancel_requested_at is None:
            return False
        self.insist(lambda uow: uow.jobs.cancelled(job_id, job.attempt))
        return True


@dataclass
class Start:
    """One attempt at a job."""

    runner: Runner
    job_id: UUID
    attempt: int
    rechecked: float = 0.0

    def fit(self) -> NewVersion | Problem | ChildDied | None:
        """How it ended, None when it is no longer ours to end; raises HandedBack."""
        try:
            with self.runner.spool.directory() as directory:
                return self._fit(directory)
        except NoLongerOurs:
            return None
        except ChildDied as died:
            return died
        except TrainingFailedError as error:
            return of_error(error)

    def record(self, outcome: NewVersion | Problem | None) -> None:
        """Write the end down, unless another start has taken over."""
        match outcome:
            case Learned():
                self.record(self._succeed(outcome))
            case Problem():
                self.runner.insist(lambda uow: uow.jobs.fail(self.job_id, self.attempt, outcome))
            case None:
                pass

    def _succeed(self, version: NewVersion) -> Problem | None:
        for left in reversed(range(RECORDINGS)):
            try:
                self.runner.insist(lambda uow: uow.jobs.succeed(self.job_id, self.attempt, version))
            except ConflictError as error:  # perhaps a race with another version of the same model
                if not left:
                    return name_taken(error)
            else:
                break
        return None

    def _fit(self, directory: Path) -> NewVersion | Problem:
        began = time.monotonic()
        job, dataset = self.runner.insist(self._read)
        most_cells = self.runner.most_cells
        fit = prepare(job.plan, dataset, lambda: self._blocks(dataset.id), directory, most_cells=most_cells)
        end = self._train(fit)
        if isinstance(end, Failure):
            if end.traceback is not None:
                logger.error("a fit met an unexpected error", extra={"job": self.job_id, "traceback": end.traceback})
            return of_failure(end)
        seconds = time.monotonic() - began
        return fit.version(end, seconds=seconds, holding=lambda row: self._holding(dataset.id, row))

    def _read(self, uow: UnitOfWork) -> tuple[TrainingJob, Dataset]:
        job = uow.jobs.find(self.job_id)
        if job is None:
            raise NoLongerOurs
        return job, uow.datasets.get(job.owner, job.request.dataset_id)

    def _blocks(self, dataset_id: UUID) -> Iterator[tuple[int, Block]]:
        for number in itertools.count():
            self._look()
            found = self.runner.insist(partial(_block, dataset_id, number))
            if found is None:
                return
            yield found

    def _holding(self, dataset_id: UUID, row: int) -> tuple[int, Block]:
        def read(uow: UnitOfWork) -> tuple[int, Block]:
            found = uow.datasets.block(dataset_id, uow.datasets.block_holding(dataset_id, row))
            if found is None:
                raise NoLongerOurs
            return found

        return self.runner.insist(read)

    def _train(self, fit: Fit) -> Result | Failure:
        child = self.runner.pool.take()
        try:
            child.start(fit.task)
            while True:
                message = child.receive(LOOK_SECONDS)
                if isinstance(message, Step):
                    self._tell(fit.progress(message))
                elif message is not None:
                    return message
                self._look()
        finally:
            child.kill()

    def _tell(self, progress: Progress) -> None:
        if not self.runner.insist(lambda uow: uow.jobs.progress(self.job_id, self.attempt, progress)):
            raise NoLongerOurs

    def _look(self) -> None:
        """Raises NoLongerOurs, HandedBack."""
        if self.runner.stopping.is_set():
            raise HandedBack
        if self.runner.insist(lambda uow: uow.jobs.cancel_requested(self.job_id)):
            raise NoLongerOurs
        if time.monotonic() - self.rechecked < RECHECK_SECONDS:
            return
        job = self.runner.insist(lambda uow: uow.jobs.find(self.job_id))
        if job is None or job.state != "running" or job.attempt != self.attempt:
            raise NoLongerOurs
        self.rechecked = time.monotonic()


def _block(dataset_id: UUID, number: int, uow: UnitOfWork) -> tuple[int, Block] | None:
    return uow.datasets.block(dataset_id, number)
