"""The rate at which API processes admit the requests of an owner."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import httpx2

from app import administration
from app.limits.demand_repository import ALIVE_SECONDS
from app.settings import Settings

SETTLING_SECONDS, SECONDS = ALIVE_SECONDS + 2.0, 6.0
PATH = "/v1/session"


def key(url: str, owner: str) -> dict[str, str]:
    with administration.api_keys(Settings(database_url=url)) as keys:
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


def check_rate(urls: Sequence[str], headers: dict[str, str], expected: float) -> None:
    """Check that processes hold a rate within 10 %, by up to three measurements: they can't while they get no CPU."""
    measured: list[float] = []
    while not measured or abs(measured[-1] - expected) > 0.1 * expected:
        assert len(measured) < 3, measured
        measured.append(rate(urls, headers))
