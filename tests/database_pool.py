"""PostgreSQL databases for tests that are emptied and used again: 15 ms where making and dropping takes 75."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from time import sleep
from uuid import uuid4

import psycopg
from psycopg.rows import TupleRow

from tests.postgres import USER, Server

CATALOGUES = ("pg_class", "pg_attribute", "pg_proc", "pg_trigger", "pg_constraint")
"""Every change of a schema writes a row of one of these."""

MAX_BYTES = 16 * 2**20
"""Deleted rows stay in their files: a database whose tables are larger is dropped."""

TABLES = """
    SELECT c.oid::regclass::text, pg_relation_size(c.oid), pg_total_relation_size(c.oid)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')
"""

OTHERS = """
    SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""

RESTART_SEQUENCES = "SELECT setval(seqrelid::regclass, seqstart, false) FROM pg_sequence"


class DatabasePool:
    """Databases that are copies of a template; none is used by two at a time.

    A database that comes back loses the connections that are left, every row that is not the template's, and its name:
    a client that kept its URL can't reach it again. One whose schema, or whose row of a table that the template fills,
    differs from the template's is dropped.
    """

    def __init__(self, server: Server, template: str) -> None:
        self._server, self._template = server, template
        self._empty: deque[str] = deque()
        with self._connected(template) as connection:
            sizes = connection.execute(TABLES).fetchall()
            self._kept = sorted(str(name) for name, rows, _ in sizes if rows)
            self._state = self._state_of(connection)

    @contextmanager
    def database(self) -> Iterator[str]:
        """The URL of a database with the template's content."""
        name = f"test_{uuid4().hex}"
        if len(self._empty) > 1:  # not the last, from which the connection that emptied it may not have gone
            self._server.rename(self._empty.popleft(), name)
        else:
            self._server.create(name, self._template)
        yield self._server.url(name).render_as_string(hide_password=False)
        if self._emptied(name):
            self._empty.append(name)
        else:
            self._server.drop(name)

    def close(self) -> None:
        """Drop the databases that nobody uses."""
        while self._empty:
            self._server.drop(self._empty.popleft())

    def _emptied(self, name: str) -> bool:
        """Empty a database; False where it can't be used again."""
        try:
            with self._connected(name) as connection:
                self._end_others(connection)
                if self._state_of(connection) != self._state:
                    return False
                tables = connection.execute(TABLES).fetchall()
                if sum(int(total) for _, _, total in tables) > MAX_BYTES:
                    return False
                filled = [str(table) for table, rows, _ in tables if rows and table not in self._kept]
                connection.execute("SET session_replication_role = replica")  # neither triggers nor foreign keys
                connection.execute("; ".join([*(f"DELETE FROM {table}" for table in filled), RESTART_SEQUENCES]))
        except psycopg.OperationalError:  # it accepts no connections, or this one was ended
            return False
        return True

    def _end_others(self, connection: psycopg.Connection[TupleRow]) -> None:
        pause = 0.001
        while connection.execute(OTHERS).fetchall() != [(0,)]:
            sleep(pause)
            pause *= 1.5

    def _state_of(self, connection: psycopg.Connection[TupleRow]) -> list[TupleRow]:
        """Number and latest transaction of the rows of the catalogues and of the tables that the template fills."""
        parts = (f"SELECT count(*), max(xmin::text::bigint) FROM {table}" for table in (*CATALOGUES, *self._kept))
        return connection.execute(" UNION ALL ".join(parts)).fetchall()

    @contextmanager
    def _connected(self, name: str) -> Iterator[psycopg.Connection[TupleRow]]:
        address = f"host=127.0.0.1 port={self._server.port} user={USER} dbname={name} connect_timeout=5"
        with psycopg.connect(address, autocommit=True) as connection:
            yield connection
