"""The runner of trainings: one attempt, from the claim to the record of its end; the fit runs in a child process."""

import logging
import time
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from uuid import UUID

from app.database.transaction import Transaction
from app.datasets.records import Dataset
from app.datasets.repository import DatasetRepository
from app.errors import ConflictError, TrainingFailedError
from app.jobs.checkpoint_repository import CheckpointRepository
from app.jobs.child import Failure, FitCheckpoint
from app.jobs.records import Checkpoint, Job, JobFailure
from app.jobs.repository import JobRepository
from app.jobs.worker.attempts import (
    LOOK_SECONDS,
    TOO_LONG,
    Interrupted,
    JobAttempt,
    Pace,
    Records,
    Superseded,
    TimeLimitExceeded,
    name_taken,
    of_error,
    of_failure,
)
from app.jobs.worker.pool import Child, ChildDied, ChildPool, FitShares, Share, ShareRequest
from app.jobs.worker.spool import Spool
from app.registry.records import Version
from app.registry.trainings import TRAINING
from app.tasks import task_of
from app.tasks.service import finish_training
from app.tasks.task import Training
from app.tracing.spans import Span
from relevance_bayes.core.models.fitting import LogEntry
from relevance_bayes.core.selection import Step
from relevance_bayes.records.jobs import Progress
from relevance_bayes.tables.columns import Block, block_rows
from relevance_bayes.tasks.fit import Fitted
from relevance_bayes.tasks.listing import Learned
from relevance_bayes.tasks.supervised.cost import Cost
from relevance_bayes.tasks.union import NewVersion
from relevance_bayes.tasks.work_progress import WorkProgress

logger = logging.getLogger(__name__)

RECORDINGS = 3

REPORT_SECONDS = 1.0
"""The least seconds between two records of progress: each is a transaction, and a short fit has many phases, of each of
which the child sends the first step at once."""


@dataclass(frozen=True)
class Runner:
    """Runs trainings, any number at a time; a lost database is waited for, while the child process computes on.

    `program` identifies the program: checkpoints of others are not used. Checkpoints are `keep_seconds` apart or more.
    The fits share cores and memory by `shares`.
    """

    records: Records
    pool: ChildPool
    spool: Spool
    max_cells: int
    program: str
    keep_seconds: float
    shares: FitShares = field(default_factory=FitShares)

    def __call__(self, job_id: UUID) -> bool:
        """Run a job to its end; return False where another worker runs it now or later."""
        attempt = None
        try:
            while (attempt := self.records.begin(job_id, by=self.program)) is not None:
                start = Start(self, attempt, () if attempt.kept is None else attempt.kept.checkpoint.fit_log)
                outcome = start.fit()
                if not isinstance(outcome, ChildDied):
                    if start.record(outcome):
                        return True
                    break
                attempt.event.process_died(str(outcome), outcome.stderr)
                attempt = None
                start.record_crash(outcome)
            return self.records.settle(job_id, attempt)
        except Interrupted:
            if attempt is not None:
                attempt.event.interrupted()
            return False


@dataclass
class Start:
    """One attempt at a training. `fit_log` is the log of its fit so far.

    The log was stored last at `kept_at`, in monotonic seconds; `further` is true where it has grown since. `work` is
    the progress of the whole job, None where its work is not planned. `progress` is the last one, which `is_reported`
    at once or, where another was within REPORT_SECONDS or the database was unreachable, with a later one or the end.
    """

    runner: Runner
    attempt: JobAttempt
    fit_log: tuple[LogEntry, ...]
    kept_at: float = field(default_factory=time.monotonic)
    further: bool = False
    work: WorkProgress | None = None
    progress: Progress | None = None
    is_reported: bool = True

    def fit(self) -> NewVersion | JobFailure | ChildDied | None:
        """Return the outcome, None where the attempt is superseded; raises Interrupted."""
        try:
            with self.runner.spool.directory() as directory:
                return self._fit(directory)
        except Superseded:
            return None
        except Interrupted:
            self.records.try_once(self._hand_back, otherwise=None)
            raise
        except ChildDied as died:
            return died
        except TimeLimitExceeded:
            return TOO_LONG
        except TrainingFailedError as error:
            return of_error(error)

    def record_crash(self, died: ChildDied) -> None:
        """Record the death of the child, with the end of its output, and the log of its fit; raises Interrupted."""
        words = f"{died}: {died.words}" if died.words else str(died)
        self.records.retry(lambda tx: self._record_crash(words, tx))

    def record(self, outcome: NewVersion | JobFailure | None) -> bool:
        """Record the end; return False where it is not recorded here: another attempt has taken over."""
        match outcome:
            case Learned():
                return self._succeed(outcome)
            case JobFailure():
                return self._fail(outcome)
            case None:
                return False

    def _succeed(self, version: NewVersion) -> bool:
        for left in reversed(range(RECORDINGS)):
            try:
                made = self.records.retry(partial(self._finish, version))
            except ConflictError as error:  # perhaps a race with another version of the same model
                if not left:
                    return self._fail(name_taken(error))
            else:
                if made is not None:
                    self.attempt.event.ended("succeeded")
                return made is not None
        return False

    def _fail(self, problem: JobFailure) -> bool:
        has_failed = self.records.retry(partial(self._write_failure, problem))
        if has_failed:
            self.attempt.event.ended("failed", problem)
        return has_failed

    def _fit(self, directory: Path) -> NewVersion | JobFailure:
        began = time.monotonic()
        job = self.attempt.job
        dataset, first_block = self.records.retry(self._read)
        _, plan = TRAINING.read(job)
        cost = task_of(plan).cost(plan, dataset)
        self.work = self._planned_work(job, cost)
        training = task_of(plan).prepare(
            plan,
            dataset,
            lambda: self.attempt.blocks(dataset.id, rows=dataset.rows, read=first_block),
            directory,
            max_cells=self.runner.max_cells,
        )
        end, memory = self._train(training, None if cost is None else cost.memory_bytes)
        if isinstance(end, Failure):
            if end.traceback is not None:
                logger.error(
                    "unexpected error in a fit", extra={"job": self.attempt.job_id, "traceback": end.traceback}
                )
            return of_failure(end, memory=memory)
        seconds = time.monotonic() - began

        def holding(row: int) -> tuple[int, Block]:
            if first_block is not None and row < block_rows(first_block[1]):
                return first_block
            return self.attempt.holding(dataset.id, row)

        return training.version(end.result, seconds=seconds, holding=holding)

    def _read(self, tx: Transaction) -> tuple[Dataset, tuple[int, Block] | None]:
        """Return the dataset and its first block, which is all of a small one."""
        datasets, job = DatasetRepository(tx), self.attempt.job
        return datasets.get(job.owner, job.dataset_id), datasets.block(job.dataset_id, 0)

    def _planned_work(self, job: Job, cost: Cost | None) -> WorkProgress | None:
        """Return the progress of the whole job, which begins where that of the attempt before has ended."""
        if cost is None:
            return None
        speed = 1.0 if job.expected_cost is None else job.expected_cost.speed
        share = 0.0 if job.progress is None else job.progress.share or 0.0
        return WorkProgress(cost, speed, share=share, is_resumed=bool(self.fit_log))

    def _train(self, training: Training, need: int | None) -> tuple[Fitted | Failure, int | None]:
        """Return the end of a fit that needs about so many bytes, and the bytes that it could allocate at last."""
        with self.runner.shares.requested(need) as request:
            self._wait_for_share(request)
            end = self._train_in_child(training, request)
            return end, None if request.share is None else request.share.memory

    def _wait_for_share(self, request: ShareRequest) -> None:
        """Return once the fit may begin; raises Superseded, Interrupted, TimeLimitExceeded."""
        is_first = True
        while request.admitted() is None:
            if is_first:
                logger.info(
                    "job waits for memory", extra={"job_id": str(self.attempt.job_id), "memory_bytes": request.need}
                )
            is_first = False
            self.attempt.look()
            self.records.stopping.wait(LOOK_SECONDS)

    def _train_in_child(self, training: Training, request: ShareRequest) -> Fitted | Failure:
        child = self.runner.pool.take()
        share = request.run_in(child.pid)
        span = self._start_span(child)
        try:
            end = self._received(child, training, span, share)
        except BaseException as error:
            child.kill()
            is_failure = not isinstance(error, Interrupted | Superseded)
            span.end(error=type(error).__name__ if is_failure else None)
            raise
        span.end(error=end.error if isinstance(end, Failure) else None)
        if isinstance(end, Failure):
            child.kill()
        else:
            self.runner.pool.give_back(child)
        return end

    def _start_span(self, child: Child) -> Span:
        """Start the span of the fit in a child process, which sends its progress and imports no tracer itself."""
        return self.records.tracer.start(
            "fit",
            "internal",
            {"process.pid": child.pid, "relevance.fit.resumed": bool(self.fit_log)},
            parent=self.attempt.span.traceparent,
            state=self.attempt.span.tracestate,
        )

    def _received(self, child: Child, training: Training, span: Span, share: Share | None) -> Fitted | Failure:
        looks, reports = Pace(LOOK_SECONDS, is_first_due=False), Pace(REPORT_SECONDS)
        child.start(training.fit, self.fit_log, None if share is None else self.runner.pool.limits(share))
        phase = ""
        while True:
            message = child.receive(LOOK_SECONDS)
            match message:
                case Step():
                    if message.phase != phase:
                        phase = message.phase
                        span.add_event("phase", {"relevance.fit.phase": phase})
                    self.progress, self.is_reported = self._progress(training, message), False
                case FitCheckpoint():
                    self._rest(message.fit_log)
                case None:
                    pass
                case _:
                    return message
            if self.progress is not None and not self.is_reported and reports.is_due():
                self.is_reported = self.attempt.report(self.progress)
            if looks.is_due():  # a short fit sends many messages, and each check takes a transaction
                self.attempt.look()

    def _progress(self, training: Training, step: Step) -> Progress:
        """Return the progress of a step, with that of the whole job where its work is planned."""
        found = training.progress(step)
        if self.work is None:
            return found
        whole = self.work.after(step)
        return replace(found, share=round(whole.share, 4), seconds_left=round(whole.seconds_left, 1))

    def _rest(self, fit_log: tuple[LogEntry, ...]) -> None:
        self.fit_log, self.further = fit_log, True
        due = time.monotonic() - self.kept_at >= self.runner.keep_seconds
        if due and self.records.try_once(self._keep, otherwise=False):
            self.kept_at, self.further = time.monotonic(), False

    def _keep(self, tx: Transaction) -> bool:
        checkpoint = Checkpoint(self.runner.program, self.fit_log)
        return self.further and CheckpointRepository(tx).keep(self.attempt.job_id, self.attempt.number, checkpoint)

    def _write_progress(self, tx: Transaction) -> None:
        """Record the last progress with what follows it in the same transaction."""
        if self.progress is not None and not self.is_reported:
            JobRepository(tx).progress(self.attempt.job_id, self.attempt.number, self.progress)

    def _finish(self, version: NewVersion, tx: Transaction) -> Version | None:
        self._write_progress(tx)
        progress = self.progress or self.attempt.job.progress
        return finish_training(tx, self.attempt.job_id, self.attempt.number, version, progress)

    def _write_failure(self, problem: JobFailure, tx: Transaction) -> bool:
        self._write_progress(tx)
        return JobRepository(tx).fail(self.attempt.job_id, self.attempt.number, problem)

    def _record_crash(self, words: str, tx: Transaction) -> None:
        self._write_progress(tx)
        self._keep(tx)  # before the death is counted: a checkpoint resets the count
        self.attempt.record_running_time(tx)
        JobRepository(tx).died(self.attempt.job_id, self.attempt.number, words)

    def _hand_back(self, tx: Transaction) -> None:
        self._write_progress(tx)
        self._keep(tx)
        self.attempt.write_hand_back(tx)

    @property
    def records(self) -> Records:
        """The transactions of the attempt."""
        return self.attempt.records
