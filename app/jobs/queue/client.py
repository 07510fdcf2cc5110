"""The client of the queue: any process may submit, cancel and read the state of jobs, without running them."""

import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import psycopg
from dbos import DBOS, DBOSClient, DBOSPortableJSONSerializer, EnqueueOptions
from dbos import error as engine
from dbos import error as engine_errors
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.database.engine import url_in_use
from app.database.failures import FULL, is_full, permission_error
from app.database.notifier import QUEUES, notify
from app.database.snapshots import TableShape, shapes
from app.errors import ConflictError, StorageFullError, UnavailableError
from app.jobs.queue import dbos_internals
from app.jobs.queue.dbos_internals import (
    APPLICATION,
    SCORING_WORKFLOW,
    WEBHOOK_PRIORITY,
    WEBHOOK_QUEUE,
    WEBHOOK_WORKFLOW,
    WORKFLOW,
    lane,
    queue_id,
    rank,
)
from app.jobs.records import QueueOutcome, QueueState
from relevance_bayes.records.jobs import JobKind

UNREACHABLE = "The queue's database can't be reached or is not migrated; try again later."


@contextmanager
def translated() -> Iterator[None]:
    """Raise the service's errors for the engine's: UnavailableError, StorageFullError, ConflictError."""
    try:
        yield
    except engine.DBOSWorkflowIDInUseError as error:
        raise ConflictError("This job was submitted before.") from error
    except (DBAPIError, PoolTimeoutError) as error:
        if isinstance(error, DBAPIError) and (refused := permission_error(error)) is not None:
            raise refused from error
        if isinstance(error, DBAPIError) and is_full(error):
            raise StorageFullError(FULL) from error
        if _is_connection_failure(error) or isinstance(error, ProgrammingError):
            raise UnavailableError(UNREACHABLE) from error
        raise


def _is_connection_failure(error: BaseException) -> bool:
    """Return whether an error is a failure to connect to a database, or a lost connection."""
    lost = isinstance(error, DBAPIError) and error.connection_invalidated
    return lost or isinstance(error, OperationalError | InterfaceError | PoolTimeoutError | psycopg.OperationalError)


LOGGERS = ("dbos", "app.database.engine.RetryingPool")


class _OutageFilter(logging.Filter):
    """Drops log records about failed connections, and passes the first line of the failure to `report`.

    DBOS formats failures into its messages; the exception that is being handled shows the kind of failure.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        super().__init__()
        self._report = report

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the record is logged."""
        error = record.exc_info[1] if record.exc_info else sys.exc_info()[1]
        if error is None or not _is_connection_failure(error):
            return True
        self._report(str(error).partition("\n")[0])
        return False


@contextmanager
def reported_outages(report: Callable[[str], None]) -> Iterator[None]:
    """Return a context in which connection failures are reported, and not logged."""
    outages = _OutageFilter(report)
    for name in LOGGERS:
        logging.getLogger(name).addFilter(outages)
    try:
        yield
    finally:
        for name in LOGGERS:
            logging.getLogger(name).removeFilter(outages)


STATES: Mapping[str, QueueState] = {"ENQUEUED": "waiting", "DELAYED": "waiting", "PENDING": "running"}

ENDINGS: Mapping[str, QueueOutcome] = {
    "SUCCESS": "succeeded",
    "ERROR": "failed",
    "CANCELLED": "cancelled",
    "MAX_RECOVERY_ATTEMPTS_EXCEEDED": "lost",
}

MAX_AT_ONCE = 1000
"""The number of ids in one statement."""


def make_client(engine: Engine) -> DBOSClient:
    """Return a client on the service's own engine; it connects at first use, and never waits for a lost database."""
    return DBOSClient(
        system_database_engine=engine,
        serializer=DBOSPortableJSONSerializer(),
        application_name=APPLICATION,
        retry_connection_errors=False,
        lazy=True,
    )


@dataclass(frozen=True)
class Submission:
    """The queue within a transaction."""

    client: DBOSClient
    connection: Connection

    def submit(self, job_id: UUID, *, owner: str, kind: JobKind = "training", priority: int = 0) -> None:
        """Queue a job when the transaction commits; raises ConflictError where its id was submitted before."""
        queue, workflow = lane(kind)
        with translated():
            self.client.enqueue_in_transaction(
                self.connection,
                {
                    "workflow_name": workflow,
                    "queue_name": queue,
                    "workflow_id": str(job_id),
                    "workflow_id_reuse_policy": "reject",
                    "queue_partition_key": owner,
                    "priority": rank(priority),
                },
                str(job_id),
            )
            notify(self.connection, queue_id(queue), channel=QUEUES)

    def deliver(self, entry: UUID, *, webhook_id: UUID, delay: float) -> None:
        """Queue one delivery attempt, to begin after `delay` seconds, when the transaction commits."""
        options: EnqueueOptions = {
            "workflow_name": WEBHOOK_WORKFLOW,
            "queue_name": WEBHOOK_QUEUE,
            "workflow_id": str(entry),
            "workflow_id_reuse_policy": "reject",
            "queue_partition_key": str(webhook_id),
            "priority": WEBHOOK_PRIORITY,
        }
        if delay > 0:
            options["delay_seconds"] = delay
        with translated():
            self.client.enqueue_in_transaction(self.connection, options, str(entry))
            if delay <= 0:
                notify(self.connection, queue_id(WEBHOOK_QUEUE), channel=QUEUES)


@dataclass(frozen=True)
class Submitter:
    """Makes the queue of a transaction from its connection."""

    client: DBOSClient

    def __call__(self, connection: Connection) -> Submission:
        """Return the queue within this connection's transaction."""
        return Submission(self.client, connection)


@dataclass(frozen=True)
class Control:
    """Operations on the queue outside a transaction; each raises UnavailableError."""

    client: DBOSClient

    def cancel(self, job_id: UUID) -> None:
        """Cancel a job's entry, unless it has ended."""
        with translated():
            self.client.cancel_workflow(str(job_id))

    def state(self, job_id: UUID) -> QueueState:
        """Return the state of a job's entry."""
        status = self._statuses([job_id]).get(job_id)
        return "unknown" if status is None else STATES.get(status, "ended")

    def holders(self) -> frozenset[str]:
        """Return the executors that have running entries in the queue."""
        with translated():
            running = self.client.list_workflows(status="PENDING", load_input=False, load_output=False)
        return frozenset(status.executor_id for status in running if status.executor_id is not None)

    def queues_with_entries(self) -> list[str]:
        """Return the queues that have entries to claim."""
        with translated():
            return dbos_internals.queues_with_entries(self.client)

    def endings(self, job_ids: Sequence[UUID]) -> Mapping[UUID, QueueOutcome]:
        """Return how the entries of jobs ended; jobs that are queued or running are left out."""
        found: dict[UUID, str] = {}
        for start in range(0, len(job_ids), MAX_AT_ONCE):
            found |= self._statuses(job_ids[start : start + MAX_AT_ONCE])
        return {
            job_id: ENDINGS.get(found.get(job_id, ""), "unknown")
            for job_id in job_ids
            if found.get(job_id) not in STATES
        }

    def recover(self, executors: Sequence[str]) -> None:
        """Return the jobs of these executors to the queue; each recovery counts as a start."""
        with translated():
            dbos_internals.recover(self.client, executors)

    def _statuses(self, job_ids: Sequence[UUID]) -> dict[UUID, str]:
        with translated():
            known = self.client.list_workflows(
                workflow_ids=[str(job_id) for job_id in job_ids], load_input=False, load_output=False
            )
        return {UUID(status.workflow_id): status.status for status in known}


@dataclass(frozen=True)
class EndedEntries:
    """Ended entries of DBOS."""

    client: DBOSClient

    def ended(self, *, before: datetime, skip: int, limit: int) -> Sequence[UUID]:
        """Return entries that ended before a time, oldest first, without the first `skip`; raises UnavailableError."""
        then = before.isoformat()
        with translated():
            found = self.client.list_workflows(
                name=[WORKFLOW, SCORING_WORKFLOW, WEBHOOK_WORKFLOW],
                status=list(ENDINGS),
                end_time=then,  # the index is on the start, which precedes the end
                completed_before=then,
                offset=skip,
                limit=limit,
                load_input=False,
                load_output=False,
            )
        return [UUID(status.workflow_id) for status in found]

    def forget(self, entries: Sequence[UUID]) -> None:
        """Delete these entries with all that belongs to them, in one transaction; raises UnavailableError."""
        with translated():
            self.client.delete_workflows([str(entry) for entry in entries])


def migrate(engine: Engine) -> None:
    """Create DBOS's tables, or upgrade them; of two concurrent calls the second finds nothing to do.

    Raises UnavailableError when the database can't be reached.
    """
    with translated():
        DBOS.migrate(url_in_use(engine).render_as_string(hide_password=False))


def is_migrated(client: DBOSClient) -> bool:
    """Return whether DBOS's tables exist at the revision that it needs; raises UnavailableError."""
    try:
        with translated():
            dbos_internals.verify_migrations(client)
    except engine_errors.DBOSInitializationError:
        return False
    return True


def tables() -> tuple[TableShape, ...]:
    """Return DBOS's tables, but that of its migrations."""
    return shapes(dbos_internals.METADATA, "dbos")
