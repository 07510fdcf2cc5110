"""Of each hostile dimension the CPU time of the service grows no faster than the request."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.hostile.dimensions import DIMENSIONS
from tests.hostile.service import Target
from tests.served import served

DOUBLINGS = 4
MAX_SLOPE = 1.2
MIN_CPU_SECONDS = 0.1


@pytest.fixture(scope="module")
def target(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with served(sqlite_template, tmp_path_factory.mktemp("hostile")) as service:
        yield Target.of(service)


def cost(target: Target, request: bytes) -> float:
    """CPU seconds of the service for one request: the mean of as many as take the least time together."""
    before, times, spent = target.cpu(), 0, 0.0
    while spent < MIN_CPU_SECONDS:
        status = target.sent(request)
        assert status == 0 or 200 <= status < 500, status
        times, spent = times + 1, target.cpu() - before
    return spent / times


@pytest.mark.parametrize("name", DIMENSIONS)
def test_cpu_time_grows_no_faster_than_the_request(target: Target, name: str) -> None:
    make, minimum = DIMENSIONS[name]
    costs = []
    for doubling in range(DOUBLINGS + 1):
        request = make(target, minimum << doubling)
        target.sent(request)  # what the first of its kind costs once
        costs.append(cost(target, request))
    slope = np.polyfit(np.arange(DOUBLINGS + 1), np.log2(costs), 1)[0]
    assert slope <= MAX_SLOPE, costs
    assert target.sent(b"GET /health/live HTTP/1.1\r\nHost: h\r\n\r\n") == 200
