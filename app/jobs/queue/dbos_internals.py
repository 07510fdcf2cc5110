"""All that is done through private members of DBOS, in one file: another release may change them without notice.

`CHECKED` is the release that each was read in; a test compares it with the installed one.
"""

import sys
from collections.abc import Sequence
from functools import partial, partialmethod
from threading import Event, current_thread, get_ident

from dbos import DBOS, DBOSClient
from dbos import _dbos as runtime
from dbos import _workflow_commands as background_jobs
from dbos._core import ActiveWorkflowById, ActiveWorkflowEntry, QueueBucket
from dbos._queue import Queue, queue_thread
from dbos._schemas.system_database import SystemSchema
from dbos._sys_db import DequeueStopReason, SystemDatabase
from sqlalchemy import exists, select

from app.database.notifier import QUEUES, notify
from app.jobs.queue.names import BY_ID, QUEUE, SCORING_QUEUE, VERSION
from app.jobs.queue.polling import PollWaits

CHECKED = "3.4"
"""The release of DBOS, major and minor."""

LIST_SECONDS = 30.0
"""Seconds between two checks of which queues there are: all are registered before the launch."""

INTERNAL_QUEUE_SECONDS = 30.0
"""Seconds between two polls of the queue of DBOS itself, in which the service puts nothing."""

BACKGROUND_JOB_SECONDS = 2.0
"""Seconds between two passes over delayed entries: repeated deliveries of webhooks, the first of which waits longer."""

THREAD = "queue-worker-"
"""The prefix of the names of threads that poll, each before the name of its queue."""

_claim, _claim_of_each = SystemDatabase.start_queued_workflows, SystemDatabase.start_queued_partitioned_workflows


class _StopEvent(Event):
    """The event that DBOS's threads of queues wait for: each wait ends also where there may be something to claim."""

    def __init__(self, stop: Event, waits: PollWaits) -> None:
        super().__init__()
        self._stop = stop
        self._waits = waits
        self._manager = get_ident()

    def is_set(self) -> bool:
        return self._waits.is_closed or self._stop.is_set()

    def wait(self, timeout: float | None = None) -> bool:
        if get_ident() != self._manager:
            self._waits.wait(current_thread().name.removeprefix(THREAD), timeout)
        elif self._stop.wait(LIST_SECONDS):
            self._waits.close()
        return self.is_set()


class _ActiveWorkflows(ActiveWorkflowById):
    """The running entries of this process, the end of each of which leaves a slot for another."""

    def __init__(self, waits: PollWaits) -> None:
        super().__init__()
        self._waits = waits

    def add(
        self, key: str, queue_name: str | None = None, queue_partition_key: str | None = None
    ) -> ActiveWorkflowEntry:
        added = super().add(key, queue_name, queue_partition_key)
        if queue_name is not None:
            self._waits.start(key, queue_name, queue_partition_key)
        return added

    def _remove(self, key: str, bucket: QueueBucket) -> None:
        super()._remove(key, bucket)
        if bucket is not None:
            self._waits.end(*bucket)


def claim_fairly(waits: PollWaits) -> None:
    """Make the engines of this process claim one job of each owner per poll, instead of all that free slots allow, and
    poll again as soon as what was claimed has started.

    The engine visits owners in random order, and would give all free slots to the first. It has no setting for this: a
    limit per owner would leave slots empty where no other owner waits, and its rate limits count the starts of all
    workers together.
    """
    replaced = {_claim: _claim_one, _claim_of_each: _claim_one_of_each}
    for method, replacement in replaced.items():
        setattr(SystemDatabase, method.__name__, partialmethod(replacement, waits))


def _claim_one(
    engine: SystemDatabase,
    waits: PollWaits,
    queue: Queue,
    executor_id: str,
    app_version: str,
    queue_partition_key: str | None,
    local_running_count: int = 0,
    partition_local_running_count: int = 0,
    *,
    owner_xid: str | None = None,
    is_latest_version: bool | None = None,
) -> tuple[list[str], DequeueStopReason | None]:
    """The engine's claim, with all but one of the owner's slots of this worker counted as taken.

    DBOS counts running entries before it queries, and claimed ones during the same poll alone: here, all count. It
    visits further partitions after the end of its polls was requested: nothing is claimed then.
    """
    if waits.is_closed:
        return [], "worker_concurrency"
    taken = waits.taken(queue.name)
    running = max(partition_local_running_count, taken[queue_partition_key])
    maximum = queue._partition_worker_concurrency
    if queue.name in {QUEUE, SCORING_QUEUE} and maximum is not None:
        running = max(running, maximum - 1)
    claimed, reason = _claim(
        engine,
        queue,
        executor_id,
        app_version,
        queue_partition_key,
        max(local_running_count, taken.total()),
        running,
        owner_xid=owner_xid,
        is_latest_version=is_latest_version,
    )
    waits.claim(queue.name, queue_partition_key, claimed)
    return claimed, reason


def _claim_one_of_each(
    engine: SystemDatabase,
    waits: PollWaits,
    queue: Queue,
    executor_id: str,
    app_version: str,
    max_tasks: int = sys.maxsize,
    *,
    owner_xid: str | None = None,
    is_latest_version: bool | None = None,
) -> list[str]:
    """The engine's claim where one job of each owner may run: it takes one of each owner who has none running."""
    if queue._worker_concurrency is not None:
        max_tasks = min(max_tasks, queue._worker_concurrency - waits.taken(queue.name).total())
    if waits.is_closed or max_tasks <= 0:
        return []
    claimed = _claim_of_each(
        engine,
        queue,
        executor_id,
        app_version,
        max_tasks,
        owner_xid=owner_xid,
        is_latest_version=is_latest_version,
    )
    waits.claim(queue.name, None, claimed)
    return claimed


def poll_when_woken(waits: PollWaits) -> None:
    """Make the next engine of this process poll a queue at each `wake`, and whenever an entry of it starts or ends.

    DBOS has no setting for this: it polls in intervals alone. It also lists the queues, polls one of its own and
    looks for delayed entries every second, which no setting changes either.
    """

    def poll(stop: Event, dbos: DBOS) -> None:
        dbos._registry.get_internal_queue()._polling_interval_sec = INTERNAL_QUEUE_SECONDS
        queue_thread(_StopEvent(stop, waits), dbos)

    replaced = {"queue_thread": poll, "ActiveWorkflowById": partial(_ActiveWorkflows, waits)}
    for name, replacement in replaced.items():
        setattr(runtime, name, replacement)
    background_jobs._BACKGROUND_JOBS_INTERVAL_SEC = BACKGROUND_JOB_SECONDS


def recover(client: DBOSClient, executors: Sequence[str]) -> None:
    """Put the entries that these executors were running back into the queues, which are polled then; each time counts
    as a start.

    The public `resume_workflow` would reset the number of starts, and DBOS's own recovery would wait for a lost
    database, so that the worker that calls it would send no heartbeats meanwhile.
    """
    engine = client._sys_db
    for executor in executors:
        for entry in engine.get_pending_workflows(executor, VERSION):
            engine.reenqueue_for_recovery(entry.workflow_id, list(executors), QUEUE)
    with engine.engine.begin() as connection:
        notify(connection, *BY_ID, channel=QUEUES)


def queues_with_entries(client: DBOSClient) -> list[str]:
    """Return the queues that have entries to claim: one statement, in the place of a poll of each queue."""
    engine = client._sys_db
    entry = engine.tables.workflow_status.c
    waiting = (exists().where(entry.queue_name == queue, entry.status == "ENQUEUED") for queue in BY_ID.values())
    with engine.engine.begin() as connection:
        found = connection.execute(select(*waiting)).one()
    return [queue for queue, has_entries in zip(BY_ID.values(), found, strict=True) if has_entries]


def verify_migrations(client: DBOSClient) -> None:
    """Raise DBOSInitializationError where the tables of DBOS are missing or of another release."""
    client._sys_db.verify_migrations()


METADATA = SystemSchema.metadata_obj
"""The tables of DBOS."""
