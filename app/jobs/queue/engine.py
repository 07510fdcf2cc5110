"""The runtime of the queue: DBOS, launched in a worker process, calls one function for each kind of entry."""

import logging
from collections.abc import Callable
from contextlib import ExitStack
from threading import Thread, current_thread
from uuid import UUID
from weakref import WeakSet

import sqlalchemy
from dbos import DBOS, DBOSClient, DBOSPortableJSONSerializer

from app.database.notifier import QUEUES, SqlNotifier
from app.jobs.queue.client import Control, reported_outages, translated
from app.jobs.queue.dbos_internals import (
    APPLICATION,
    MAX_RECOVERIES,
    QUEUE,
    SCORING_QUEUE,
    SCORING_WORKFLOW,
    VERSION,
    WEBHOOK_QUEUE,
    WEBHOOK_WORKFLOW,
    WORKFLOW,
    EntryListener,
    PollWaits,
    claim_fairly,
    poll_when_woken,
)
from app.origin import Origin, acting
from app.tracing.spans import span_scope

logger = logging.getLogger(__name__)


class LeftUnfinished(BaseException):
    """Ends an attempt without recording an end: the job stays with its executor until another one recovers it.

    Not an Exception, which DBOS would record as the failure of the job.
    """


WEBHOOK_SLOTS = 8
"""Concurrent delivery attempts of one process, in threads of their own, so that they do not wait for fits."""

WEBHOOK_FACTOR = 5
"""The number of polls for jobs to one poll for webhook messages, which start by notification too."""

WEBHOOK_SHARE = 2
"""Concurrent delivery attempts to one webhook, so that a slow receiver does not delay the others."""

SCORING_SLOTS = 2
"""Concurrent jobs of one process that use versions, each in its own thread, in addition to the fits."""

NOTIFICATION_SECONDS = 1.0
"""Seconds between two polls by DBOS for its own notifications on PostgreSQL; the service sends none."""

LOOK_SECONDS = 0.1
"""Seconds between two checks on SQLite of whether another connection has written, and so may have queued an entry."""

LAST_WORDS_SECONDS = 5.0
"""Seconds that shutdown waits for the record of the end of one entry."""


class Engine:
    """The queue's runtime in this process; there is one at a time.

    `run` runs a training and returns whether it has ended. Of one owner at most `max_of_one_owner` jobs run at a time
    over all workers; the worker that started last sets it for all. `score` does the same for jobs of other kinds, which
    have a queue of their own; without it, this process runs none. `deliver` makes one delivery attempt of a webhook and
    returns whether it was made; without it, this process makes none. An exception from any of them ends the entry as
    failed; False leaves it to be recovered. Connection failures of DBOS are passed to `report_failure`; without it,
    they are logged.
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
        self._poll_seconds = poll_seconds
        self._running: dict[str, Thread] = {}
        self._threads: WeakSet[Thread] = WeakSet()
        self._waits = PollWaits()
        self._listener = EntryListener(
            SqlNotifier(database, QUEUES, LOOK_SECONDS), Control(client).queues_with_entries, self._waits.wake
        )

    def launch(self) -> None:
        """Start to take jobs from the queue; raises UnavailableError where the database can't be used."""
        # Where its logger has a handler, DBOS adds none, and its records propagate to the root logger.
        logging.getLogger("dbos").addHandler(logging.NullHandler())
        if self._report_failure is not None:
            self._filters.enter_context(reported_outages(self._report_failure))
        claim_fairly(self._waits)
        poll_when_woken(self._waits)
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
        self._listener.start()

    def _register_jobs(self, queue: str, workflow: str, do: Callable[[UUID], bool], *, slots: int) -> None:
        @DBOS.workflow(name=workflow, max_recovery_attempts=MAX_RECOVERIES)
        def work(job: str) -> None:
            with acting(Origin("job", job)):
                self._start(do, job)

        # With a limit for each partition, DBOS visits partitions, which are owners, in random order. A limit equal to
        # the number of slots never binds, and shares no budget with other workers.
        maximum = self._max_of_one_owner
        with translated():
            self._client.register_queue(
                queue,
                worker_concurrency=slots,
                partition_concurrency=maximum,
                partition_worker_concurrency=slots if maximum is None else min(slots, maximum),
                polling_interval_sec=self._poll_seconds,
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
                polling_interval_sec=WEBHOOK_FACTOR * self._poll_seconds,
            )

    def _start(self, do: Callable[[UUID], bool], entry: str) -> None:
        self._running[entry] = current_thread()
        self._threads.add(current_thread())
        try:
            with span_scope():
                ended = _done(do, entry)
        finally:
            del self._running[entry]
        if not ended:
            raise LeftUnfinished

    def take_no_more(self) -> None:
        """Claim no more entries; one that is being claimed still starts."""
        self._listener.stop()
        self._waits.close()

    def shutdown(self, grace: float) -> None:
        """Take no more jobs, wait up to `grace` seconds for the running ones, and stop."""
        self.take_no_more()
        DBOS.destroy(destroy_registry=True, workflow_completion_timeout_sec=round(grace) if self._running else 0)
        # DBOS abandons its threads while they record the end of entries, and the database is closed soon.
        for thread in set(self._threads) - set(self._running.values()):
            thread.join(LAST_WORDS_SECONDS)
        self._filters.close()


def _done(do: Callable[[UUID], bool], entry: str) -> bool:
    """Run an entry; an exception is logged within its span."""
    try:
        return do(UUID(entry))
    except Exception:
        logger.exception("unexpected error in a job", extra={"job": entry})
        raise
