"""All that is done through private members of DBOS, in one file: another release may change them without notice.

`CHECKED` is the release that each was read in; a test compares it with the installed one.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial, partialmethod
from threading import Condition, Event, Thread, current_thread, get_ident
from uuid import NAMESPACE_URL, UUID, uuid5

from dbos import DBOS, DBOSClient
from dbos import _dbos as runtime
from dbos import _workflow_commands as background_jobs
from dbos._core import ActiveWorkflowById, ActiveWorkflowEntry, QueueBucket
from dbos._queue import Queue, queue_thread
from dbos._schemas.system_database import SystemSchema
from dbos._sys_db import DequeueStopReason, SystemDatabase
from sqlalchemy import exists, select

from app.database.notifier import QUEUES, Notifier, notify
from app.errors import UnavailableError
from relevance_bayes.records.jobs import MAX_PRIORITY, JobKind

APPLICATION = "relevance"
VERSION = "1"
"""Fixed, where DBOS would hash the code: a job begun before an upgrade would then never be recovered."""

QUEUE = "training"
WORKFLOW = "train"

SCORING_QUEUE = "scoring"
SCORING_WORKFLOW = "score"
"""Queues of their own, so that none waits behind long fits."""


def lane(kind: JobKind) -> tuple[str, str]:
    """Return the queue and the workflow of jobs of a kind."""
    return (QUEUE, WORKFLOW) if kind == "training" else (SCORING_QUEUE, SCORING_WORKFLOW)


def rank(priority: int) -> int:
    """Return DBOS's priority of a job: lower runs first, from 1; 0 would mean no priority."""
    return MAX_PRIORITY + 1 - priority


WEBHOOK_QUEUE = "webhooks"
WEBHOOK_WORKFLOW = "deliver"
WEBHOOK_PRIORITY = 100


def queue_id(queue: str) -> UUID:
    """Return the id under which listeners are notified of new entries of a queue."""
    return uuid5(NAMESPACE_URL, f"relevance:queue:{queue}")


BY_ID: Mapping[UUID, str] = {queue_id(queue): queue for queue in (QUEUE, SCORING_QUEUE, WEBHOOK_QUEUE)}
"""The queues by the ids of their notifications."""

MAX_RECOVERIES = 100
"""The number of times that DBOS restarts a job before it gives up.

Attempts that died are counted by the job itself: DBOS does not distinguish them from interrupted ones, and each running
job is interrupted whenever its worker is stopped.
"""


CLAIM_SECONDS = 10.0
"""Seconds after which a claimed entry that DBOS could not start leaves its slot."""


class PollWaits:
    """The waits of an engine's threads, of which each queue has one, between two polls of their queues.

    A call of `wake` ends the wait of a queue; where its thread polls at the time, it does not wait afterwards. DBOS
    counts an entry as running once a thread of its own has started it; here, it is `taken` from its claim to its end.
    """

    def __init__(self) -> None:
        self._changed = Condition()
        self._woken: set[str] = set()
        self._claimed: dict[str, tuple[str, str | None, float]] = {}
        self._running: Counter[tuple[str, str | None]] = Counter()
        self.is_closed = False

    def wake(self, queues: Collection[str]) -> None:
        """Let the threads of these queues poll now."""
        with self._changed:
            self._woken.update(queues)
            self._changed.notify_all()

    def claim(self, queue: str, partition: str | None, entries: Sequence[str]) -> None:
        """Count entries of a queue as claimed until they start, or CLAIM_SECONDS have passed."""
        with self._changed:
            self._claimed |= dict.fromkeys(entries, (queue, partition, time.monotonic() + CLAIM_SECONDS))

    def start(self, entry: str, queue: str, partition: str | None) -> None:
        """Count an entry as running, and let the thread of its queue poll now: others may be claimed."""
        with self._changed:
            self._claimed.pop(entry, None)
            self._running[queue, partition] += 1
        self.wake([queue])

    def end(self, queue: str, partition: str | None) -> None:
        """Count an entry as running no more, and let the thread of its queue poll now."""
        with self._changed:
            self._running -= Counter([(queue, partition)])
        self.wake([queue])

    def taken(self, queue: str) -> Counter[str | None]:
        """Return the number of entries of a queue that were claimed here and have not ended, by partition."""
        now = time.monotonic()
        with self._changed:
            self._claimed = {entry: one for entry, one in self._claimed.items() if one[2] > now}
            taken = Counter(partition for name, partition, _ in self._claimed.values() if name == queue)
            taken.update({partition: count for (name, partition), count in self._running.items() if name == queue})
            return taken

    def close(self) -> None:
        """End the polls of all threads."""
        with self._changed:
            self.is_closed = True
            self._changed.notify_all()

    def wait(self, queue: str, seconds: float | None) -> None:
        """Wait for the next poll of a queue."""
        with self._changed:
            self._changed.wait_for(lambda: self.is_closed or queue in self._woken, seconds)
            self._woken.discard(queue)


RETRY_SECONDS = 1.0
"""Seconds between two attempts to listen while the database is unreachable."""

JOIN_SECONDS = 2.0
"""Seconds to wait for the thread to end, unless the database blocks it."""


class EntryListener:
    """Calls `wake` with the queues in which an entry may be new, in a thread from `start` until `stop`.

    `waiting` returns the queues that have entries, where notifications don't name them: on SQLite.

    A notification may be lost with its connection, so the queues are polled as well.
    """

    def __init__(
        self, notifier: Notifier, waiting: Callable[[], Collection[str]], wake: Callable[[Collection[str]], None]
    ) -> None:
        self._notifier = notifier
        self._waiting = waiting
        self._wake = wake
        self._stopping = Event()
        self._thread = Thread(target=self._run, name="entry-listener", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(JOIN_SECONDS)

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                with self._notifier.open() as listener:
                    # What was queued before this connection listened is not notified to it.
                    self._wake(self._waiting())
                    while not self._stopping.is_set():
                        received = listener.receive()
                        if received is None or not received <= BY_ID.keys():  # SQLite, or processes of another release
                            self._wake(self._waiting())
                        elif received:
                            self._wake([BY_ID[queue_id] for queue_id in received])
            except UnavailableError:  # the heartbeat reports outages
                self._stopping.wait(RETRY_SECONDS)


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
