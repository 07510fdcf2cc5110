"""Connections of psycopg that stop waiting for an unreachable server."""

from typing import TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.adapt import AdaptersMap
from psycopg.conninfo import make_conninfo
from psycopg.rows import TupleRow
from sqlalchemy import Engine, event
from sqlalchemy.engine import Dialect
from sqlalchemy.pool import ConnectionPoolEntry

from app.database.passwords import Parameters, PasswordFile
from app.database.reachability import Reachability

Result = TypeVar("Result")

WAKE_SECONDS = 0.1
"""Seconds between checks, on a waiting connection, of whether the server is unreachable."""


class WatchedConnection(psycopg.Connection[TupleRow]):
    """A connection that raises OperationalError from a wait once the server is found to be unreachable.

    A server whose process is stopped, or whose network is cut, accepts a statement and never responds; neither the
    protocol nor the kernel ends such a wait.
    """

    reachability: Reachability | None = None

    def wait(self, gen: PQGen[Result], interval: float = WAKE_SECONDS, timeout: float | None = None) -> Result:
        """Consume a generator of psycopg that operates on the connection."""
        if self.reachability is None:
            return super().wait(gen, interval, timeout)
        return super().wait(self._unless_away(gen, self.reachability), interval, timeout)

    def _unless_away(self, gen: PQGen[Result], reachability: Reachability) -> PQGen[Result]:
        try:
            required = next(gen)
            while True:
                ready = yield required
                if not ready and reachability.is_away:
                    self.close()
                    raise psycopg.OperationalError("the server can't be reached")
                required = gen.send(ready)
        except StopIteration as end:
            result: Result = end.value
            return result


def watch_connections(engine: Engine, reachability: Reachability, passwords: PasswordFile | None = None) -> None:
    """Let an engine for PostgreSQL make watched connections."""

    def watched(parameters: Parameters) -> WatchedConnection:
        context = parameters.get("context")
        connection = WatchedConnection.connect(
            connection_string(parameters), context=context if isinstance(context, AdaptersMap) else None
        )
        connection.reachability = reachability
        return connection

    def connect(
        _dialect: Dialect, _entry: ConnectionPoolEntry, _arguments: list[str], parameters: Parameters
    ) -> WatchedConnection:
        return watched(parameters) if passwords is None else passwords.connect(parameters, watched)

    event.listen(engine, "do_connect", connect)


def connection_string(parameters: Parameters, **more: int) -> str:
    """Return libpq's connection string for the parameters of SQLAlchemy's dialect."""
    settings = {name: str(one) for name, one in (parameters | more).items() if isinstance(one, str | int)}
    return make_conninfo("", **settings)
