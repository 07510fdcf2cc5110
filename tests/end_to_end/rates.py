"""The rate at which API processes admit the requests of an owner."""

import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import httpx2

from app.accounts.limit_repository import ALIVE_SECONDS
from app.accounts.rate_limiter import BURST_SECONDS
from app.maintenance import administration
from app.settings import Settings
from tests.end_to_end.deployment import TIMEOUT

SETTLING_SECONDS, SECONDS = ALIVE_SECONDS + 2.0, 4.0
SETTLING_PAUSE = 0.002
PATH = "/v1/session"
TOLERANCE = 0.1
MAX_MEASUREMENTS = 3


@dataclass(frozen=True)
class Measurement:
    """The requests of one client, once shares are settled."""

    requests: Counter[int]
    """Those that it sent, by the second in which it did."""
    admitted: int
    seconds: float
    """The time from the first of them to the last response."""


def key(url: str, owner: str) -> dict[str, str]:
    with administration.api_keys(Settings(database_url=url)) as keys:
        return {"Authorization": f"Bearer {keys.create(owner, 'of a test')[1]}"}


def measure(headers: dict[str, str], url: str) -> Measurement:
    """Send requests to one process, once shares are settled as fast as it responds: ten times the limit, if it can."""
    requests, admitted = Counter[int](), 0
    with httpx2.Client(base_url=url, headers=headers, timeout=TIMEOUT) as client:
        client.get(PATH)
        began = time.monotonic()
        while (seconds := time.monotonic() - began) < SETTLING_SECONDS + SECONDS:
            status = client.get(PATH).status_code
            assert status in {200, 429}
            if seconds >= SETTLING_SECONDS:
                requests[int(seconds)] += 1
                admitted += status == 200
            else:
                time.sleep(SETTLING_PAUSE)
    return Measurement(requests, admitted, time.monotonic() - began - SETTLING_SECONDS)


def bounds(measurements: Sequence[Measurement], expected: float) -> tuple[float, float]:
    """The minimum and the maximum number of admitted requests under a rate.

    At least, in each second, those that a client sent, up to an equal share of the rate: where clients get the CPU this
    is the rate. At most those of the time that it took; and of buckets, which fill while clients send less.
    """
    share = expected / len(measurements)
    sent = sum(min(requests, share) for one in measurements for requests in one.requests.values())
    seconds = max(one.seconds for one in measurements)
    filled = min(expected * BURST_SECONDS, max(0.0, expected * SECONDS - sent))
    return (1.0 - TOLERANCE) * sent, (1.0 + TOLERANCE) * expected * seconds + filled


def check_rate(urls: Sequence[str], headers: dict[str, str], expected: float) -> None:
    """Check that processes admit no more than a rate, and no less in one of three measurements."""
    measured: list[tuple[float, int]] = []
    while not measured or measured[-1][1] < measured[-1][0]:
        assert len(measured) < MAX_MEASUREMENTS, measured
        with ThreadPoolExecutor(len(urls)) as threads:
            measurements = list(threads.map(partial(measure, headers), urls))
        minimum, maximum = bounds(measurements, expected)
        admitted = sum(one.admitted for one in measurements)
        assert admitted <= maximum, (admitted, maximum)
        measured.append((minimum, admitted))
