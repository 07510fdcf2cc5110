"""Databases that commands can't use: another kind of database, and a role without permissions."""

from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest

from tests import postgres
from tests.commands import Run, runner

MIGRATING = ("migrate", "keys list", "audit list", "worker", "serve", "api")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, logging_as_it_was: None) -> Run:
    return runner(monkeypatch)


@pytest.mark.parametrize("command", MIGRATING)
@pytest.mark.parametrize(
    ("url", "driver"),
    [("mysql://root:secret@db/relevance", "mysql"), ("postgresql+asyncpg://u:secret@db/x", "postgresql+asyncpg")],
)
def test_a_url_of_another_kind_of_database_is_refused(
    command: str, url: str, driver: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELEVANCE_DATABASE_URL", url)
    done = run(*command.split())
    assert done.exit_code == 1
    assert isinstance(done.exception, SystemExit), done.exception
    assert f"expected a database of SQLite or PostgreSQL, as in sqlite:/// or postgresql+psycopg://, got {driver}" in (
        " ".join(done.output.split())
    )
    assert "secret" not in done.output


@pytest.fixture
def url_of_role(postgres_server: postgres.Server) -> Iterator[str]:
    """The URL of an empty database for a role that may connect and not create tables."""
    name = f"small_{uuid4().hex[:8]}"
    postgres_server.create(name)
    address = postgres_server.url(name)
    with psycopg.connect(address.set(drivername="postgresql").render_as_string(), autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN".encode())
        connection.execute(b"REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        yield address.set(username=name).render_as_string()
        connection.execute(f"DROP OWNED BY {name}".encode())
        connection.execute(f"DROP ROLE {name}".encode())
    postgres_server.drop(name)


def test_a_role_without_create_gets_the_reason(run: Run, url_of_role: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELEVANCE_DATABASE_URL", url_of_role)
    done = run("migrate")
    assert done.exit_code == 1
    assert isinstance(done.exception, SystemExit), done.exception
    assert "The database's role lacks a permission: permission denied for schema public." in " ".join(
        done.output.split()
    )


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("postgresql://relevance:hunter2@127.0.0.1:1/relevance", "Connection refused"),
        ("sqlite:////missing/relevance.db", "unable to open database file"),
    ],
)
def test_an_unreachable_database_is_named_with_its_own_reason(
    url: str, reason: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELEVANCE_DATABASE_URL", url)
    for command in ("migrate", "keys list", "vacuum"):
        done = run(*command.split())
        assert done.exit_code == 1
        assert isinstance(done.exception, SystemExit), done.exception
        assert reason in " ".join(done.output.split())
        assert "hunter2" not in done.output


def test_an_unknown_database_is_named_as_the_server_does(
    run: Run, postgres_server: postgres.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELEVANCE_DATABASE_URL", postgres_server.url("never_created").render_as_string())
    assert 'database "never_created" does not exist' in " ".join(run("migrate", "--plan").output.split())
