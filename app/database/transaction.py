"""Transactions, from which repositories are made where they are used."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol, TypeAlias, TypeVar
from uuid import UUID

from sqlalchemy import Connection, Engine
from sqlalchemy.orm import Session

from app.database.failures import translated
from app.database.monitor import DatabaseMonitor
from relevance_bayes.types.jobs import JobKind


class Queue(Protocol):
    """The durable engine: who may run what, and when. Job ids are its workflow ids."""

    def submit(self, job_id: UUID, *, owner: str, kind: JobKind = "training", priority: int = 0) -> None:
        """Within the transaction that this queue belongs to."""

    def deliver(self, entry: UUID, *, webhook_id: UUID, delay: float) -> None:
        """Queue one attempt to tell a webhook, in so many seconds; within the transaction likewise."""


DAY = 86_400.0

Clock: TypeAlias = Callable[[], datetime]
"""Now, in UTC, with its zone."""

E = TypeVar("E")


@dataclass(frozen=True)
class Transaction:
    """One transaction with what belongs to it; short, and never waiting for a socket.

    `queue` takes entries within it. Responses to requests with a key are kept for `response_retention` seconds.
    `subscribers` hear of every event that is published in it.
    """

    session: Session
    clock: Clock
    queue: Queue
    response_retention: float = DAY
    subscribers: tuple["Subscriber", ...] = ()

    def publish(self, event: object) -> None:
        """Have the subscribers do what follows from an event, in this transaction."""
        for subscriber in self.subscribers:
            subscriber(self, event)


Subscriber: TypeAlias = Callable[[Transaction, object], None]


def on(kind: type[E], follow: Callable[[Transaction, E], None]) -> Subscriber:
    """A subscriber to events of one type."""

    def subscriber(tx: Transaction, event: object) -> None:
        if isinstance(event, kind):
            follow(tx, event)

    return subscriber


OpenTransaction = Callable[[], AbstractContextManager[Transaction]]
"""Opens a transaction, which commits when its block ends well, else rolls back."""


def now() -> datetime:
    """Now, in UTC."""
    return datetime.now(UTC)


def open_transactions(
    engine: Engine,
    submitter: Callable[[Connection], Queue],
    *,
    clock: Clock = now,
    response_retention: float = DAY,
    monitor: DatabaseMonitor | None = None,
    subscribers: tuple[Subscriber, ...] = (),
) -> OpenTransaction:
    """Opens transactions on an engine; `submitter` makes the queue that belongs to a transaction's connection.

    Opening and using one raises UnavailableError when the database can't be reached or is too busy, ConflictError where
    somebody else changed the same at the same time. A transaction that only reads takes no lock on either database.
    With a `monitor` transactions are refused at once while the database is away. `subscribers` are told of what is
    published.
    """

    @contextmanager
    def opened() -> Iterator[Transaction]:
        watched = nullcontext() if monitor is None else monitor.unit()
        with (
            watched,
            translated(),
            engine.begin() as connection,
            Session(connection, expire_on_commit=False) as session,
        ):
            yield Transaction(session, clock, submitter(connection), response_retention, subscribers)
            session.flush()

    return opened
