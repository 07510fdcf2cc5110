"""A database that was used before is one that was just made."""

from collections.abc import Iterator

import psycopg
import pytest

from tests import postgres
from tests.conftest import TEMPLATE
from tests.database_pool import DatabasePool

FILL = """
    INSERT INTO models (id, created_at, last_number, owner, name, task, target, inputs, record_share)
        VALUES (gen_random_uuid(), now(), 0, 'ada', 'm', 'regression', 'y', '[]', 0);
    INSERT INTO dbos.workflow_output (workflow_uuid, retention_timestamp) VALUES ('w', 0)
"""


@pytest.fixture(scope="module")
def pool(postgres_server: postgres.Server) -> Iterator[DatabasePool]:
    """One of its own, whose first databases were used."""
    pool = DatabasePool(postgres_server, TEMPLATE)
    with pool.database() as first, pool.database() as second:
        for url in (first, second):
            with connected(url) as connection:
                connection.execute(FILL)
    yield pool
    pool.close()


def connected(url: str) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(url.replace("+psycopg", ""), autocommit=True)


def oid(connection: psycopg.Connection[tuple[object, ...]]) -> object:
    """The properties that a database keeps when it gets another name."""
    found = connection.execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchone()
    assert found is not None
    return found[0]


def use(pool: DatabasePool, statement: str) -> object:
    """Use a database, and return its URL."""
    with pool.database() as url, connected(url) as connection:
        connection.execute(statement)
        return oid(connection)


def test_a_database_is_used_again_and_empty(pool: DatabasePool) -> None:
    used = [use(pool, FILL) for _ in range(4)]
    assert used[:2] == used[2:]
    with pool.database() as url, connected(url) as connection:
        for table in ("models", "dbos.workflow_output"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
        for table in ("alembic_version", "dbos.dbos_migrations"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() != (0,)


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE models ADD COLUMN more text",
        "CREATE INDEX more ON models (owner)",
        "DROP TABLE webhooks CASCADE",
        "UPDATE alembic_version SET version_num = 'another'",
    ],
)
def test_one_whose_schema_was_changed_is_used_no_more(pool: DatabasePool, change: str) -> None:
    changed = use(pool, change)
    assert changed not in [use(pool, FILL) for _ in range(3)]


def test_one_that_has_grown_large_is_used_no_more(pool: DatabasePool, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as small:
        small.setattr("tests.database_pool.MAX_BYTES", 0)
        large = use(pool, FILL)
    assert large not in [use(pool, FILL) for _ in range(3)]


def test_nobody_stays_connected_or_comes_back(pool: DatabasePool) -> None:
    with pool.database() as url:
        left = connected(url)
        left.autocommit = False
        left.execute(FILL)  # in a transaction that nobody ends
    with pytest.raises(psycopg.OperationalError):
        left.execute("SELECT 1")
    left.close()
    for _ in range(2):
        use(pool, FILL)
    with pytest.raises(psycopg.OperationalError):
        connected(url)
