"""Of each hostile dimension the CPU time of the service grows no faster than the request."""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.hostile.dimensions import DIMENSIONS
from tests.hostile.service import Target
from tests.served import served

pytestmark = pytest.mark.thorough

DOUBLINGS = 4
MAX_SLOPE = 1.2
LEAST_CPU_SECONDS = 0.2
MAX_REQUESTS = 200
"""Of one size: what costs so little that these do not come to the least time has no slope to be measured."""


@pytest.fixture(scope="module")
def target(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with served(sqlite_template, tmp_path_factory.mktemp("hostile")) as service:
        yield Target.of(service)


def cost(target: Target, request: bytes, times: int) -> float:
    """CPU seconds of the service for each of these equal requests."""
    before = target.cpu()
    for _ in range(times):
        status = target.sent(request)
        assert status == 0 or 200 <= status < 500, status
    return (target.cpu() - before) / times


@pytest.mark.parametrize("name", DIMENSIONS)
def test_cpu_time_grows_no_faster_than_the_request(target: Target, name: str) -> None:
    make, least = DIMENSIONS[name]
    costs = []
    for doubling in range(DOUBLINGS + 1):
        request = make(target, least << doubling)
        once = cost(target, request, 1)
        times = min(MAX_REQUESTS, math.ceil(LEAST_CPU_SECONDS / max(once, 1e-6)))
        costs.append(cost(target, request, times))
    slope = np.polyfit(np.arange(DOUBLINGS + 1), np.log2(costs), 1)[0]
    assert slope <= MAX_SLOPE, costs
    assert target.sent(b"GET /health/live HTTP/1.1\r\nHost: h\r\n\r\n") == 200
