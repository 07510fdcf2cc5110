"""The transactions of processes that have nothing to do, with the settings that they are shipped with."""

import time
from pathlib import Path

import psycopg
import pytest

from app.settings import Settings
from tests.end_to_end.deployment import TIMEOUT, deployed
from tests.postgres import Server
from tests.waiting import until

pytestmark = [pytest.mark.thorough, pytest.mark.parametrize("database", ["postgresql"], indirect=True)]

SECONDS = 20.0
MAX_PER_SECOND = 10.0
SHIPPED = str(Settings.model_fields["poll_seconds"].default)
COUNT = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = %s"


def rate(server: Server, database: str) -> float:
    """The transactions of a database in a second of the next ones."""
    with psycopg.connect(server.url("postgres").set(drivername="postgresql").render_as_string(False)) as connection:
        connection.autocommit = True
        counts: list[int] = []
        began = time.monotonic()
        for pause in (SECONDS, 0.0):
            counts += [int(row[0]) for row in connection.execute(COUNT, [database])]
            time.sleep(pause)
        return (counts[1] - counts[0]) / (time.monotonic() - began)


def test_two_idle_api_processes_and_a_worker_make_few_transactions(
    database_url: str, postgres_server: Server, tmp_path: Path
) -> None:
    with deployed(database_url, tmp_path) as deployment:
        spool = tmp_path / "spool"
        spool.mkdir()
        for _ in range(2):
            deployment.api(RELEVANCE_POLL_SECONDS=SHIPPED)
        deployment.start("worker", RELEVANCE_POLL_SECONDS=SHIPPED, RELEVANCE_SPOOL_DIRECTORY=str(spool))
        until(lambda: any(spool.glob("*.health")), seconds=TIMEOUT)
        assert 0.0 < rate(postgres_server, database_url.rpartition("/")[2]) <= MAX_PER_SECOND
