"""The metrics of the connections to the database."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Lock

from sqlalchemy import Connection, Engine, QueuePool

from app.database.engine import max_connections
from app.metrics.families import NANOSECONDS, counter, gauge
from app.metrics.numbers import Numbers

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
