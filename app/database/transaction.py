"""Transactions and the holds of unfinished jobs; repositories are made from a transaction where they are used."""

import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Literal, Protocol, TypeAlias, TypeVar, get_args
from uuid import UUID

from sqlalchemy import (
    CheckConstraint,
    Connection,
    Engine,
    ForeignKey,
    Index,
    QueuePool,
    delete,
    func,
    insert,
    select,
    text,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.database.base import Base, DatabaseNow, changed, one_of
from app.database.engine import max_connections
from app.database.failures import translated
from app.database.monitor import DatabaseMonitor
from app.metrics import NANOSECONDS, Numbers, counter, gauge
from app.origin import Origin, current_origin
from relevance_bayes.records.accounts import OwnerLimits
from relevance_bayes.records.audit import AuditAction, AuditDetail
from relevance_bayes.records.jobs import JobKind

CONNECTIONS = gauge("relevance_database_connections", "Connections to the database, by state.", "state")
MAX_CONNECTIONS = gauge("relevance_database_max_connections", "Maximum number of connections to the database.")
WAITS = counter("relevance_database_connection_waits_total", "Transactions that began while no connection was free.")
WAIT_SECONDS = counter(
    "relevance_database_connection_wait_seconds_total",
    "Time for which transactions waited for a connection, including the time to connect.",
    divisor=NANOSECONDS,
)


class PoolMetrics:
    """The numbers of an engine's pool, updated at the begin and the end of each transaction."""

    def __init__(self, engine: Engine, numbers: Numbers) -> None:
        self._engine = engine
        self._numbers = numbers
        self._max = max_connections(engine)
        self._in_use, self._idle = numbers.place(CONNECTIONS, "in_use"), numbers.place(CONNECTIONS, "idle")
        self._waits, self._wait_seconds = numbers.place(WAITS), numbers.place(WAIT_SECONDS)
        numbers.values[numbers.place(MAX_CONNECTIONS)] = self._max
        self._lock = Lock()

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """Begin a transaction of the engine."""
        pool, began = self._engine.pool, time.perf_counter_ns()
        if isinstance(pool, QueuePool) and pool.checkedout() >= self._max:
            self._numbers.add(self._waits, 1)
        with ExitStack() as stack:
            stack.callback(self._update)
            try:
                connection = stack.enter_context(self._engine.begin())
            finally:
                self._numbers.add(self._wait_seconds, time.perf_counter_ns() - began)
            self._update()
            yield connection

    def _update(self) -> None:
        pool = self._engine.pool
        if isinstance(pool, QueuePool):
            with self._lock:
                self._numbers.values[self._in_use] = pool.checkedout()
                self._numbers.values[self._idle] = pool.checkedin()


class Queue(Protocol):
    """The durable queue of jobs and deliveries. A job's id is its workflow id."""

    def submit(self, job_id: UUID, *, owner: str, kind: JobKind = "training", priority: int = 0) -> None:
        """Submit a job within the transaction that this queue belongs to."""

    def deliver(self, entry: UUID, *, webhook_id: UUID, delay: float) -> None:
        """Queue one delivery attempt, to begin after `delay` seconds, within the same transaction."""


DAY = 86_400.0

Clock: TypeAlias = Callable[[], datetime]
"""Returns the current time, in UTC and aware."""

E = TypeVar("E")


@dataclass(frozen=True)
class Change:
    """A change of a resource of an owner, for the audit."""

    action: AuditAction
    owner: str
    resource: str
    origin: Origin
    details: Mapping[str, AuditDetail]


@dataclass(frozen=True)
class Transaction:
    """A transaction with its clock and queue; it is short and never waits for network I/O.

    `queue` adds entries within the transaction. Idempotent responses are kept for `response_retention` seconds.
    `subscribers` are called for every event that is published in it. Owners have the `default_limits`, where no others
    are set for them. `changes` are those recorded so far, `last_steps` the functions to call before it commits, by key.
    """

    session: Session
    clock: Clock
    queue: Queue
    response_retention: float = DAY
    subscribers: tuple["Subscriber", ...] = ()
    default_limits: OwnerLimits = OwnerLimits()
    changes: list[Change] = field(default_factory=list)
    last_steps: dict[tuple[str, ...], Callable[[], None]] = field(default_factory=dict)

    def record(self, action: AuditAction, owner: str, resource: str, **details: AuditDetail) -> None:
        """Record a change of a resource, by the path under which it is found, for the audit of its owner.

        It is stored at the end of the transaction, which so holds the lock of the owner's chain briefly.
        """
        self.changes.append(Change(action, owner, resource, current_origin(), details))

    def before_commit(self, key: tuple[str, ...], step: Callable[[], None]) -> None:
        """Call `step` once at the end of the transaction, after the changes for the audit are stored, in the order of
        keys: a lock that it takes is held briefly, and all transactions take these locks in the same order.
        """
        self.last_steps[key] = step

    def publish(self, event: object) -> None:
        """Call the subscribers of an event, within this transaction."""
        for subscriber in self.subscribers:
            subscriber(self, event)


Subscriber: TypeAlias = Callable[[Transaction, object], None]
StoreChanges: TypeAlias = Callable[[Transaction], None]
"""Stores the changes that were recorded in a transaction, before its last steps."""


def on(kind: type[E], follow: Callable[[Transaction, E], None]) -> Subscriber:
    """Return a subscriber to events of one type."""

    def subscriber(tx: Transaction, event: object) -> None:
        if isinstance(event, kind):
            follow(tx, event)

    return subscriber


OpenTransaction = Callable[[], AbstractContextManager[Transaction]]
"""Opens a transaction, which commits when its block succeeds, else rolls back."""


def now() -> datetime:
    """Return the current time, in UTC."""
    return datetime.now(UTC)


def open_transactions(
    engine: Engine,
    submitter: Callable[[Connection], Queue],
    *,
    clock: Clock = now,
    response_retention: float = DAY,
    monitor: DatabaseMonitor | None = None,
    subscribers: tuple[Subscriber, ...] = (),
    store_changes: StoreChanges | None = None,
    pool_metrics: PoolMetrics | None = None,
    default_limits: OwnerLimits | None = None,
) -> OpenTransaction:
    """Return a function that opens transactions on an engine; `submitter` makes the queue of a connection.

    Opening and using a transaction raises UnavailableError where the database can't be reached or is too busy, and
    ConflictError after a concurrent change of the same rows. A read-only transaction takes no lock on either database.
    With a `monitor` transactions are refused at once during an outage. `subscribers` are called for each published
    event. `store_changes` stores recorded changes. `pool_metrics` count the use of the engine's connections.
    `default_limits` are those of owners; none where they are not given.
    """
    limits = OwnerLimits() if default_limits is None else default_limits
    begin = engine.begin if pool_metrics is None else pool_metrics.begin

    @contextmanager
    def opened() -> Iterator[Transaction]:
        watched = nullcontext() if monitor is None else monitor.unit()
        with (
            watched,
            translated(),
            begin() as connection,
            Session(connection, expire_on_commit=False) as session,
        ):
            tx = Transaction(session, clock, submitter(connection), response_retention, subscribers, limits)
            yield tx
            session.flush()
            if tx.changes and store_changes is not None:
                store_changes(tx)
            for key in sorted(tx.last_steps):
                tx.last_steps[key]()

    return opened


LOW_BYTES, EXHAUSTED_BYTES = 2**30, 100 * 2**20
"""The free space of a disk below which there is a warning, and below which trainings are not accepted any more."""


def free_bytes(folder: Path) -> int:
    """Return the free space of the disk of a folder; raises OSError."""
    return shutil.disk_usage(folder).free


def has_space(folder: Path) -> bool:
    """Return whether the disk of a folder has space for what trainings write; a folder that can't be read may have."""
    try:
        return free_bytes(folder) >= EXHAUSTED_BYTES
    except OSError:
        return True


@dataclass(frozen=True)
class DatabaseHealth:
    """`ahead_seconds` is how far this host's clock is ahead; `write_error` is None where writes are accepted."""

    ahead_seconds: float
    write_error: str | None


def examine(engine: Engine, clock: Clock = now) -> DatabaseHealth:
    """Return the health of a migrated database, and change nothing; raises UnavailableError."""
    with translated(), engine.connect() as connection:
        before = clock()
        there = connection.execute(select(DatabaseNow())).scalar_one()
        # The database read its clock between the two: within them, the clocks agree.
        early, late = (there - before).total_seconds(), (there - clock()).total_seconds()
        ahead = max(-early, 0.0) - max(late, 0.0)
        try:
            connection.execute(text("UPDATE workers SET left_at = left_at WHERE 1 = 0"))
        except DBAPIError as error:
            return DatabaseHealth(ahead, str(error.orig).strip())
        connection.rollback()
    return DatabaseHealth(ahead, None)


Held = Literal["dataset", "model", "version"]


class JobHoldRow(Base):
    """A dataset, a model or a version that can't be deleted while an unfinished job needs it.

    `resource` is the id of a dataset or a version, or the name of a model, which need not exist yet.
    """

    __tablename__ = "job_holds"
    __table_args__ = (
        CheckConstraint(one_of("kind", frozenset(get_args(Held))), name="kind"),
        Index(None, "owner", "kind", "resource"),
    )

    job_id: Mapped[UUID] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)
    resource: Mapped[str] = mapped_column(primary_key=True)
    owner: Mapped[str]


CANCEL = "cancel them or wait until they have ended."


def hold(tx: Transaction, job_id: UUID, owner: str, kind: Held, resource: UUID | str) -> None:
    """Record that a job needs a resource until it ends."""
    tx.session.execute(insert(JobHoldRow).values(job_id=job_id, owner=owner, kind=kind, resource=str(resource)))


def count_holds(tx: Transaction, owner: str, kind: Held, resource: UUID | str) -> int:
    """Return the number of unfinished jobs that need a resource."""
    row = JobHoldRow
    held = select(func.count()).where(row.owner == owner, row.kind == kind, row.resource == str(resource))
    return tx.session.scalar(held) or 0


def release(tx: Transaction, job_id: UUID) -> None:
    """Remove the holds of a job that has ended."""
    changed(tx.session, delete(JobHoldRow).where(JobHoldRow.job_id == job_id))
