"""Rates of an owner while the database is away: each process goes on with its last share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.maintenance.administration import migrate
from app.settings import Settings
from tests import postgres
from tests.end_to_end.deployment import deployed
from tests.end_to_end.rates import check_rate, key

RATE = 100


@pytest.fixture
def server() -> Iterator[postgres.MortalServer]:
    programs = postgres.programs()
    assert programs is not None, postgres.INSTALL
    with postgres.mortal(programs) as server:
        yield server


@pytest.mark.parametrize("is_frozen", [False, True])
def test_processes_hold_the_limit_while_the_database_is_away_and_when_it_is_back(
    server: postgres.MortalServer, is_frozen: bool, tmp_path: Path
) -> None:
    server.create("relevance")
    url = server.url("relevance").render_as_string(hide_password=False)
    migrate(Settings(database_url=url))
    acme = key(url, "acme")
    with deployed(url, tmp_path) as deployment:
        settings = {"RELEVANCE_OWNER_REQUESTS_PER_SECOND": str(RATE), "RELEVANCE_LOG_REQUESTS": "false"}
        urls = [str(deployment.api(**settings).http.base_url) for _ in range(2)]
        check_rate(urls, acme, RATE)
        (server.freeze if is_frozen else server.kill)()
        try:
            check_rate(urls, acme, RATE)
        finally:
            (server.thaw if is_frozen else server.start)()
        check_rate(urls[:1], acme, RATE)
