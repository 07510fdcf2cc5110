"""Engines that tests use one after the other: what SQLAlchemy compiles for one test serves the next."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import URL, Engine, event, make_url
from sqlalchemy.engine import Dialect
from sqlalchemy.pool import ConnectionPoolEntry

from app.database.engine import make_engine
from tests.small_database import small_engine


class SharedEngines:
    """An engine for each server, SQLite being one; its connections are to one database at a time.

    With an engine of its own, a test of SQL compiles all its statements: a fifth of the time of such a test.
    """

    def __init__(self, directory: Path) -> None:
        self._link = directory / "shared.db"
        self._engines: dict[URL, Engine] = {}

    @contextmanager
    def connected(self, url: str) -> Iterator[Engine]:
        """The engine, connected to the database of a URL."""
        target = make_url(url)
        server = target.set(database="")
        if target.get_backend_name() == "sqlite":
            self._link.unlink(missing_ok=True)
            self._link.symlink_to(str(target.database))
            engine = self._engines.setdefault(server, small_engine(self._link))
        else:
            if server not in self._engines:
                self._engines[server] = _postgres_engine(target)
            engine = self._engines[server]
            engine.url = engine.url.set(database=target.database)
        yield engine
        engine.dispose()


def _postgres_engine(url: URL) -> Engine:
    """An engine whose connections are to the database that its `url` names when they are made."""
    engine = make_engine(url)

    @event.listens_for(engine, "do_connect")
    def connect(
        _dialect: Dialect, _entry: ConnectionPoolEntry, _arguments: list[str], parameters: dict[str, str | None]
    ) -> None:
        parameters["dbname"] = engine.url.database

    return engine
