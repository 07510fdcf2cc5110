"""Running jobs: the durable engine, launched in a worker process around one plain function."""

import logging
from collections.abc import Callable
from contextlib import ExitStack
from threading import Thread, current_thread
from uuid import UUID
from weakref import WeakSet

import sqlalchemy
from dbos import DBOS, DBOSClient, DBOSPortableJSONSerializer

from app.jobs.queue.dbos_internals import claim_fairly
from app.jobs.queue.failures import translated
from app.jobs.queue.names import (
    APPLICATION,
    MAX_RECOVERIES,
    QUEUE,
    SCORING_QUEUE,
    SCORING_WORKFLOW,
    VERSION,
    WEBHOOK_QUEUE,
    WEBHOOK_WORKFLOW,
    WORKFLOW,
)
from app.jobs.queue.outage_filter import reported_outages
from app.jobs.queue.polling import intervals

logger = logging.getLogger(__name__)


class LeftUnfinished(BaseException):
    """Ends a start of a job without recording an end: the job stays with its executor until somebody recovers it.

    Not an Exception, which the engine would record as the job's own failure.
    """


WEBHOOK_SLOTS = 8
"""Attempts to tell webhooks that one process makes at a time, in threads of their own: no fit waits for them."""

WEBHOOK_SHARE = 2
"""Of these, the most for one webhook: a receiver that is slow must not keep others from being told."""

SCORING_SLOTS = 2
"""Jobs that score versions which one process runs at a time, each in its own thread, beside the fits."""

NOTIFICATION_SECONDS = 1.0
"""The time between two looks of the engine for its own notifications to send on PostgreSQL; the service sends none."""

LAST_WORDS_SECONDS = 5.0
"""For writing down the end of one entry, once the process is to end."""


class Engine:
    """The engine of this process; there is one at a time. `run` says whether the training it was given has ended.

    Of one owner at most so many jobs run at a time over all workers; the worker that started last decides for all.
    `score` says the same of jobs of other kinds, which wait in a queue of their own; without it, others run them.
    `deliver` says likewise whether one attempt to tell a webhook was made; without it, others make them. An exception
    out of either ends the entry as failed; False leaves it for others to recover. Failures of the engine's connections
    are handed to `report_failure`; without it, they are logged.
    """

    def __init__(
        self,
        database: sqlalchemy.Engine,
        client: DBOSClient,
        *,
        run: Callable[[UUID], bool],
        score: Callable[[UUID], bool] | None = None,
        deliver: Callable[[UUID], bool] | None = None,
        executor: str,
        slots: int,
        max_of_one_owner: int | None = None,
        poll_seconds: float,
        report_failure: Callable[[str], None] | None = None,
    ) -> None:
        self._database = database
        self._client = client
        self._run = run
        self._score = score
        self._deliver = deliver
        self._executor = executor
        self._slots = slots
        self._max_of_one_owner = max_of_one_owner
        self._report_failure = report_failure
        self._filters = ExitStack()
        self._intervals = intervals(poll_seconds)
        self._running: dict[str, Thread] = {}
        self._threads: WeakSet[Thread] = WeakSet()

    def launch(self) -> None:
        """Begin to take jobs from the queue; raises UnavailableError where the database is away or not migrated."""
        # With a handler on it, the engine leaves its logger alone, and its records go where all others go.
        logging.getLogger("dbos").addHandler(logging.NullHandler())
        if self._report_failure is not None:
            self._filters.enter_context(reported_outages(self._report_failure))
        claim_fairly()
        DBOS(
            config={
                "name": APPLICATION,
                "system_database_engine": self._database,
                "application_version": VERSION,
                "executor_id": self._executor,
                "serializer": DBOSPortableJSONSerializer(),
                "run_migrations": False,
                "notification_coalesce_sec": NOTIFICATION_SECONDS,
                "log_level": "WARNING",
            }
        )

        self._register_jobs(QUEUE, WORKFLOW, self._run, slots=self._slots)
        queues = [QUEUE]
        if self._score is not None:
            queues.append(SCORING_QUEUE)
            self._register_jobs(SCORING_QUEUE, SCORING_WORKFLOW, self._score, slots=SCORING_SLOTS)
        if self._deliver is not None:
            queues.append(WEBHOOK_QUEUE)
            self._register_deliveries(self._deliver)
        DBOS.listen_queues(queues)
        DBOS.launch()

    def _register_jobs(self, queue: str, workflow: str, do: Callable[[UUID], bool], *, slots: int) -> None:
        @DBOS.workflow(name=workflow, max_recovery_attempts=MAX_RECOVERIES)
        def work(job: str) -> None:
            self._start(do, job)

        # A limit for each partition makes partitions, which are owners, visited in random order. Where an owner may run
        # as many jobs as there are slots it never binds, and shares no budget with other workers.
        most = self._max_of_one_owner
        with translated():
            self._client.register_queue(
                queue,
                worker_concurrency=slots,
                partition_concurrency=most,
                partition_worker_concurrency=slots if most is None else min(slots, most),
                polling_interval_sec=self._intervals[queue],
            )

    def _register_deliveries(self, deliver: Callable[[UUID], bool]) -> None:
        @DBOS.workflow(name=WEBHOOK_WORKFLOW, max_recovery_attempts=MAX_RECOVERIES)
        def report(entry: str) -> None:
            self._start(deliver, entry)

        with translated():
            self._client.register_queue(
                WEBHOOK_QUEUE,
                worker_concurrency=WEBHOOK_SLOTS,
                partition_worker_concurrency=WEBHOOK_SHARE,
                polling_interval_sec=self._intervals[WEBHOOK_QUEUE],
            )

    def _start(self, do: Callable[[UUID], bool], entry: str) -> None:
        self._running[entry] = current_thread()
        self._threads.add(current_thread())
        try:
            ended = do(UUID(entry))
        except Exception:
            logger.exception("a job met an unexpected error", extra={"job": entry})
            raise
        finally:
            del self._running[entry]
        if not ended:
            raise LeftUnfinished

    def shutdown(self, grace: float) -> None:
        """Take no more jobs, wait up to `grace` seconds for the running ones, and stop."""
        DBOS.destroy(destroy_registry=True, workflow_completion_timeout_sec=round(grace) if self._running else 0)
        # The engine lets go of its threads while they write down what has ended, and soon nobody has a database.
        for thread in set(self._threads) - set(self._running.values()):
            thread.join(LAST_WORDS_SECONDS)
        self._filters.close()
