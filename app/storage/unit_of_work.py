"""One transaction with everything that can be done in it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection, Engine
from sqlalchemy.orm import Session

from app.domain.model_ports import Aliases, Models
from app.domain.ports import (
    Checkpoints,
    Clock,
    Datasets,
    Jobs,
    Keys,
    OpenUnitOfWork,
    Queue,
    Workers,
)
from app.domain.results import Results
from app.domain.webhook_ports import Deliveries, Webhooks
from app.storage.failures import translated
from app.storage.monitor import DatabaseMonitor
from app.storage.repositories import (
    SqlAliases,
    SqlCheckpoints,
    SqlDatasets,
    SqlDeliveries,
    SqlJobs,
    SqlKeys,
    SqlModels,
    SqlResults,
    SqlWebhooks,
    SqlWorkers,
)

DAY = 86_400.0


@dataclass
class SqlUnitOfWork:
    """The port `UnitOfWork` over one connection."""

    datasets: Datasets
    jobs: Jobs
    checkpoints: Checkpoints
    results: Results
    models: Models
    aliases: Aliases
    workers: Workers
    keys: Keys
    webhooks: Webhooks
    deliveries: Deliveries
    queue: Queue


def now() -> datetime:
    """Now, in UTC."""
    return datetime.now(UTC)


def unit_of_work(
    engine: Engine,
    submitter: Callable[[Connection], Queue],
    *,
    clock: Clock = now,
    responses_kept_for: float = DAY,
    monitor: DatabaseMonitor | None = None,
) -> OpenUnitOfWork:
    """Opens units of work on an engine; `submitter` makes the queue that belongs to a transaction's connection.

    Answers to requests with a key are kept for so many seconds.

    Opening and using one raises UnavailableError when the database can't be reached or is too busy, ConflictError where
    somebody else changed the same at the same time. A unit that only reads takes no lock on either database. With a
    `monitor` units are refused at once while the database is away.
    """

    @contextmanager
    def opened() -> Iterator[SqlUnitOfWork]:
        watched = nullcontext() if monitor is None else monitor.unit()
        with (
            watched,
            translated(),
            engine.begin() as connection,
            Session(connection, expire_on_commit=False) as session,
        ):
            queue = submitter(connection)
            deliveries = SqlDeliveries(session, clock, queue)
            models = SqlModels(session, clock)
            yield SqlUnitOfWork(
                SqlDatasets(session, clock),
                SqlJobs(session, clock, deliveries),
                SqlCheckpoints(session, clock),
                SqlResults(session, clock),
                models,
                SqlAliases(session, clock, models),
                SqlWorkers(session),
                SqlKeys(session, responses_kept_for),
                SqlWebhooks(session, clock),
                deliveries,
                queue,
            )
            session.flush()

    return opened
