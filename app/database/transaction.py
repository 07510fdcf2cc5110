"""Transactions; repositories are made from one where they are used."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol, TypeAlias, TypeVar
from uuid import UUID

from sqlalchemy import Connection, Engine
from sqlalchemy.orm import Session

from app.database.failures import translated
from app.database.monitor import DatabaseMonitor
from app.database.pool_metrics import PoolMetrics
from app.origin import Origin, current_origin
from relevance_bayes.records.audit import AuditAction, AuditDetail
from relevance_bayes.records.jobs import JobKind
from relevance_bayes.records.limits import OwnerLimits


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
