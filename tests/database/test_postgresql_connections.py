"""The connections of an engine for PostgreSQL between two uses."""

from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Connection, Engine

pytestmark = pytest.mark.parametrize("database", ["postgresql"], indirect=True)


def driver(connection: Connection) -> psycopg.Connection:
    found: object = connection.connection.dbapi_connection
    assert isinstance(found, psycopg.Connection)
    return found


def backend(connection: Connection) -> int:
    return int(connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one())


def test_connections_that_the_server_has_closed_are_replaced(engine: Engine) -> None:
    with engine.connect() as one, engine.connect() as other:
        before = {backend(one), backend(other)}
        address = engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(address, autocommit=True) as connection:
        for pid in before:
            assert connection.execute("SELECT pg_terminate_backend(%s, 30000)", [pid]).fetchall() == [(True,)]
    with engine.connect() as one, engine.connect() as other:
        assert not before & {backend(one), backend(other)}


def test_the_use_of_a_connection_sends_nothing_to_the_server(engine: Engine, tmp_path: Path) -> None:
    with engine.connect() as connection:
        open_one = driver(connection)
    with (tmp_path / "trace").open("w") as trace:
        open_one.pgconn.trace(trace.fileno())
        with engine.connect() as connection:
            assert driver(connection) is open_one
        open_one.pgconn.untrace()
    assert "Query" not in (tmp_path / "trace").read_text()
