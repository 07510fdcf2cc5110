"""Passwords of PostgreSQL in a file, which is read for each connection: they change without a restart."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias, TypeVar

import psycopg
from psycopg.adapt import AdaptersMap
from sqlalchemy import URL, Engine
from sqlalchemy.engine import Dialect
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

from app.database.failures import translated

Connected = TypeVar("Connected")
Parameters: TypeAlias = dict[str, str | int | AdaptersMap]


class PasswordFile:
    """A file of passwords, one a line. Each connection is made with the first that the server accepts.

    So the file can have the present and the next password while the server changes from one to the other. A file that
    can't be read counts as it last was.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last: tuple[str, ...] = ()

    def passwords(self) -> tuple[str, ...]:
        """Return the passwords, the first one first; raises OSError where the file was never read."""
        try:
            self._last = passwords_in(self._path) or self._last  # it is empty while somebody writes it
        except (OSError, UnicodeDecodeError):
            if not self._last:
                raise
        return self._last

    def connect(self, parameters: Parameters, connect: Callable[[Parameters], Connected]) -> Connected:
        """Return the connection that a function makes; raises the error of the first password that failed."""
        first: psycopg.OperationalError | None = None
        for password in self.passwords():
            try:
                return connect({**parameters, "password": password})
            except psycopg.OperationalError as error:
                first = first or error
                if error.pgconn is None or not error.pgconn.used_password:
                    break  # the server did not get as far as the password
        raise first or psycopg.OperationalError(f"{self._path} has no password")

    def __call__(
        self, dialect: Dialect, _entry: ConnectionPoolEntry, _arguments: list[str], parameters: Parameters
    ) -> DBAPIConnection:
        """Connect for an engine, as its listener of `do_connect`."""
        return self.connect(parameters, lambda given: dialect.connect(**given))


def passwords_in(path: Path) -> tuple[str, ...]:
    """Return the passwords in a file: its lines, without spaces at their ends; raises OSError."""
    return tuple(filter(None, map(str.strip, path.read_text().splitlines())))


def url_in_use(engine: Engine) -> URL:
    """Return the URL of an engine, of PostgreSQL with the password that it connects with; raises UnavailableError."""
    with translated(), engine.connect() as connection:
        driver: object = connection.connection.dbapi_connection
        password = driver.info.password if isinstance(driver, psycopg.Connection) else None
    return engine.url.set(password=password) if password else engine.url
