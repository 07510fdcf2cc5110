"""One start of a job: claim it, write its rows down, fit them in a child, record how that ended."""

import itertools
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Event
from typing import TypeVar
from uuid import UUID

from app.domain.datasets import Dataset
from app.domain.errors import ConflictError, TrainingFailedError, UnavailableError
from app.domain.jobs import FINISHED, Job, Problem, Progress
from app.domain.models import Learned, NewVersion
from app.domain.ports import OpenUnitOfWork, UnitOfWork
from app.domain.starts import Checkpoint, Claim, Kept
from app.domain.tables import Block
from app.sparse_bayes.selection import Step
from app.sparse_bayes.trail import Mark
from app.worker.child.process import Failure
from app.worker.child.tasks import Rested, Result
from app.worker.fits import Fit, prepare
from app.worker.insisting import HandedBack, insist
from app.worker.pool import Child, ChildDied, Pool
from app.worker.problems import name_taken, of_death, of_error, of_failure
from app.worker.spool import Spool

logger = logging.getLogger(__name__)

LOOK_SECONDS = 0.25
"""How often a running fit's owner is heard: a cancel is seen after this."""

RECORDINGS = 3

T = TypeVar("T")


class NoLongerOurs(Exception):
    """The job's owner cancelled it, it was ended from outside, or another start has taken over."""


@dataclass(frozen=True)
class Runner:
    """Runs jobs, any number at a time; a lost database is waited for, while the child computes on.

    `program` says which one this is: checkpoints of others are left alone. Its own are at least `keep_seconds` apart.
    """

    open_uow: OpenUnitOfWork
    pool: Pool
    spool: Spool
    most_cells: int
    stopping: Event
    program: str
    keep_seconds: float

    def __call__(self, job_id: UUID) -> bool:
        """Run a job to its end; False when it goes on elsewhere, or will."""
        try:
            while (start := self._begin(job_id)) is not None:
                outcome = start.fit()
                if isinstance(outcome, ChildDied):
                    logger.warning(
                        "a fit's process died",
                        extra={"job": job_id, "attempt": start.attempt, "how": outcome, "said": outcome.said},
                    )
                    start.bury(outcome)
                    continue
                start.record(outcome)
                break
            return self._settle(job_id)
        except HandedBack:
            return False

    def insist(self, action: Callable[[UnitOfWork], T]) -> T:
        """Do it in a transaction, again and again while the database is away; raises HandedBack."""
        return insist(self.open_uow, action, stopping=self.stopping)

    def try_once(self, action: Callable[[UnitOfWork], T], *, otherwise: T) -> T:
        """Do it in a transaction, or not at all while the database is away: the child is heard in the meantime."""
        try:
            with self.open_uow() as uow:
                return action(uow)
        except UnavailableError:
            return otherwise

    def _begin(self, job_id: UUID) -> "Start | None":
        """A start, from where the one before it was; a job that died too often ends here."""
        if self.stopping.is_set():
            raise HandedBack

        def claim(uow: UnitOfWork) -> tuple[Claim | None, Kept | None]:
            kept = uow.checkpoints.find(job_id, by=self.program)
            return uow.jobs.claim(job_id, resumed_from=None if kept is None else kept.resumption), kept

        claimed, kept = self.insist(claim)
        if claimed is None:
            return None
        if claimed.spent:
            self.insist(lambda uow: _end_as_dead(job_id, claimed.attempt, uow))
            return None
        return Start(self, job_id, claimed.attempt, () if kept is None else kept.checkpoint.trail)

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
    """One attempt at a job. `trail` is how far its fit is.

    It was kept the last time at `kept_at`, in monotonic seconds, and is `further` now.
    """

    runner: Runner
    job_id: UUID
    attempt: int
    trail: tuple[Mark, ...]
    kept_at: float = field(default_factory=time.monotonic)
    further: bool = False

    def fit(self) -> NewVersion | Problem | ChildDied | None:
        """How it ended, None when it is no longer ours to end; raises HandedBack."""
        try:
            with self.runner.spool.directory() as directory:
                return self._fit(directory)
        except NoLongerOurs:
            return None
        except HandedBack:
            self.runner.try_once(self._hand_back, otherwise=None)
            raise
        except ChildDied as died:
            return died
        except TrainingFailedError as error:
            return of_error(error)

    def bury(self, died: ChildDied) -> None:
        """Keep what its child has said and found; raises HandedBack."""
        words = f"{died}: {died.words}" if died.words else str(died)
        self.runner.insist(lambda uow: uow.jobs.died(self.job_id, self.attempt, words))
        self.runner.insist(self._keep)

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
            return of_failure(end, memory=self.runner.pool.memory)
        seconds = time.monotonic() - began
        return fit.version(end, seconds=seconds, holding=lambda row: self._holding(dataset.id, row))

    def _read(self, uow: UnitOfWork) -> tuple[Job, Dataset]:
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
            end = self._heard(child, fit)
        except BaseException:
            child.kill()
            raise
        if isinstance(end, Failure):
            child.kill()
        else:
            self.runner.pool.give_back(child)
        return end

    def _heard(self, child: Child, fit: Fit) -> Result | Failure:
        child.start(fit.task, self.trail)
        while True:
            message = child.receive(LOOK_SECONDS)
            match message:
                case Step():
                    self._tell(fit.progress(message))
                case Rested():
                    self._rest(message.trail)
                case None:
                    pass
                case _:
                    return message
            self._look()

    def _tell(self, progress: Progress) -> None:
        if not self.runner.try_once(lambda uow: uow.jobs.progress(self.job_id, self.attempt, progress), otherwise=True):
            raise NoLongerOurs

    def _rest(self, trail: tuple[Mark, ...]) -> None:
        self.trail, self.further = trail, True
        due = time.monotonic() - self.kept_at >= self.runner.keep_seconds
        if due and self.runner.try_once(self._keep, otherwise=False):
            self.kept_at, self.further = time.monotonic(), False

    def _keep(self, uow: UnitOfWork) -> bool:
        checkpoint = Checkpoint(self.runner.program, self.trail)
        return self.further and uow.checkpoints.keep(self.job_id, self.attempt, checkpoint)

    def _hand_back(self, uow: UnitOfWork) -> None:
        self._keep(uow)
        uow.jobs.hand_back(self.job_id, self.attempt)

    def _look(self) -> None:
        """Raises NoLongerOurs, HandedBack."""
        if self.runner.stopping.is_set():
            raise HandedBack
        if not self.runner.try_once(lambda uow: uow.jobs.is_wanted(self.job_id, self.attempt), otherwise=True):
            raise NoLongerOurs


def _end_as_dead(job_id: UUID, attempt: int, uow: UnitOfWork) -> None:
    job = uow.jobs.find(job_id)
    if job is not None:
        uow.jobs.fail(job_id, attempt, of_death(job))


def _block(dataset_id: UUID, number: int, uow: UnitOfWork) -> tuple[int, Block] | None:
    return uow.datasets.block(dataset_id, number)
