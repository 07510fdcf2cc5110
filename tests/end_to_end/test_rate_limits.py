"""API processes on PostgreSQL that hold the limit of an owner together."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from app import wiring
from app.limits.demand_repository import ALIVE_SECONDS
from app.settings import Settings
from tests.conftest import migrated_database
from tests.end_to_end.deployment import Deployment, deployed

RATE = 100
N_PROCESSES = 3
SETTLING_SECONDS, SECONDS = ALIVE_SECONDS + 2.0, 6.0
PATH = "/v1/session"


@pytest.fixture(scope="module")
def deployment(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    directory = tmp_path_factory.mktemp("rates")
    with migrated_database("postgresql", request, directory) as url, deployed(url, directory) as deployment:
        yield deployment


def key(url: str, owner: str) -> dict[str, str]:
    with wiring.api_keys(Settings(database_url=url)) as keys:
        return {"Authorization": f"Bearer {keys.create(owner, 'of a test')[1]}"}


def rate(urls: Sequence[str], headers: dict[str, str]) -> float:
    """The requests a second that were not refused, once shares are settled, of a client of each process.

    The clients together send some ten times as many as the limit.
    """

    def send(url: str) -> int:
        admitted = 0
        with httpx2.Client(base_url=url, headers=headers) as client:
            client.get(PATH)
            began = time.monotonic()
            while (seconds := time.monotonic() - began) < SETTLING_SECONDS + SECONDS:
                status = client.get(PATH).status_code
                assert status in {200, 429}
                admitted += status == 200 and seconds >= SETTLING_SECONDS
        return admitted

    with ThreadPoolExecutor(len(urls)) as threads:
        return sum(threads.map(send, urls)) / SECONDS


@pytest.mark.thorough
def test_processes_hold_the_limit_of_an_owner_together_whichever_it_uses(deployment: Deployment) -> None:
    settings = {"RELEVANCE_OWNER_REQUESTS_PER_SECOND": str(RATE), "RELEVANCE_LOG_REQUESTS": "false"}
    urls = [str(deployment.api(**settings).http.base_url) for _ in range(N_PROCESSES)]
    acme = key(deployment.database_url, "acme")
    for used in (urls, urls[:1], urls[1:]):
        assert rate(used, acme) == pytest.approx(RATE, rel=0.1), len(used)
    with wiring.limited_owners(Settings(database_url=deployment.database_url)) as owners:
        owners.replace("acme", {"requests_per_second": RATE // 2})
    assert rate(urls, acme) == pytest.approx(RATE // 2, rel=0.1)
    for process in deployment.processes[1:]:
        process.kill()
    assert rate(urls[:1], acme) == pytest.approx(RATE // 2, rel=0.1)
    for process in deployment.processes[1:]:
        process.communicate()
    del deployment.processes[1:]
