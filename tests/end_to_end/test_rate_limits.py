"""API processes on PostgreSQL that hold the limit of an owner together."""

from collections.abc import Iterator

import pytest

from app.maintenance import administration
from app.settings import Settings
from tests.conftest import migrated_database
from tests.end_to_end.deployment import Deployment, deployed
from tests.end_to_end.rates import check_rate, key

RATE = 100
N_PROCESSES = 3


@pytest.fixture(scope="module")
def deployment(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    directory = tmp_path_factory.mktemp("rates")
    with migrated_database("postgresql", request, directory) as url, deployed(url, directory) as deployment:
        yield deployment


@pytest.mark.thorough
def test_processes_hold_the_limit_of_an_owner_together_whichever_it_uses(deployment: Deployment) -> None:
    settings = {"RELEVANCE_OWNER_REQUESTS_PER_SECOND": str(RATE), "RELEVANCE_LOG_REQUESTS": "false"}
    urls = [str(deployment.api(**settings).http.base_url) for _ in range(N_PROCESSES)]
    acme = key(deployment.database_url, "acme")
    for used in (urls, urls[:1], urls[1:]):
        check_rate(used, acme, RATE)
    with administration.limited_owners(Settings(database_url=deployment.database_url)) as owners:
        owners.replace("acme", {"requests_per_second": RATE // 2})
    check_rate(urls, acme, RATE // 2)
    for process in deployment.processes[1:]:
        process.kill()
    check_rate(urls[:1], acme, RATE // 2)
    for process in deployment.processes[1:]:
        process.communicate()
    del deployment.processes[1:]
