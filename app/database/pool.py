"""The pool of connections, and its refusal to give any during an outage."""

import logging
import time
from collections.abc import Callable

from sqlalchemy import Engine, QueuePool, event
from sqlalchemy.engine import Dialect
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import ConnectionPoolEntry

from app.database.passwords import Parameters
from app.database.reachability import PROBE_SECONDS, Reachability

WAIT_SECONDS = 30.0
"""Seconds for which a transaction waits for a connection."""

RETRY_SECONDS = 0.1
"""Seconds after which a waiting thread tries to connect."""


class RetryingPool(QueuePool):
    """A pool whose waiting threads connect by themselves once the number of connections allows it.

    Those of QueuePool wait for a connection to be returned, and so for the whole timeout where the others failed to
    connect. Make it with a timeout of RETRY_SECONDS.
    """

    refuse: Callable[[], None] | None = None
    """Called before each retry: raises where waiting has no sense."""

    def _do_get(self) -> ConnectionPoolEntry:
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                return super()._do_get()
            except PoolTimeoutError:
                if time.monotonic() > deadline:
                    raise
                if self.refuse is not None:
                    self.refuse()


logging.getLogger(f"{__name__}.{RetryingPool.__name__}").setLevel(logging.WARNING)
# SQLAlchemy names a pool's logger after its class, and logs each connection that is replaced at the level INFO.


def refuse_during_outage(engine: Engine, reachability: Reachability) -> None:
    """Let an engine's pool raise OperationalError at once, for threads that wait too, while the database is away.

    Call it before the engine gets another listener of "do_connect": none is called after the first that connects.
    """

    def refuse() -> None:
        if reachability.is_away or reachability.is_probe_late(PROBE_SECONDS):
            raise engine.dialect.loaded_dbapi.OperationalError("the database can't be reached")

    def connect(_dialect: Dialect, _entry: ConnectionPoolEntry, _arguments: list[str], _parameters: Parameters) -> None:
        refuse()

    def check_out(_connection: DBAPIConnection, _entry: ConnectionPoolEntry, _proxy: object) -> None:
        refuse()

    if isinstance(engine.pool, RetryingPool):
        engine.pool.refuse = refuse
    event.listen(engine, "do_connect", connect)
    event.listen(engine, "checkout", check_out)
