"""The CPU time of a worker that has nothing to do, with the settings that it is shipped with."""

import time
from pathlib import Path

import pytest

from app.jobs.queue.polling import QUIET_SECONDS
from app.settings import Settings
from tests.end_to_end.deployment import TIMEOUT, deployed
from tests.waiting import until

pytestmark = pytest.mark.thorough

BUSY_SECONDS, IDLE_SECONDS = QUIET_SECONDS - 2.0, 30.0
SHIPPED = str(Settings.model_fields["poll_seconds"].default)
MAX_RATIO = 0.5
"""Of the CPU time while polls are frequent: shares of a core depend on the machine and on what else it does."""


def share(pid: int, seconds: float) -> float:
    """The share of a core that a process uses in the next seconds; its clock's number is as Linux makes it."""
    clock, began = (~pid << 3) | 2, time.monotonic()
    before = time.clock_gettime(clock)
    time.sleep(seconds)
    return (time.clock_gettime(clock) - before) / (time.monotonic() - began)


def test_an_idle_worker_uses_far_less_cpu_time_than_one_to_which_jobs_come(database_url: str, tmp_path: Path) -> None:
    with deployed(database_url, tmp_path) as deployment:
        spool = tmp_path / "spool"
        spool.mkdir()
        worker = deployment.start("worker", RELEVANCE_POLL_SECONDS=SHIPPED, RELEVANCE_SPOOL_DIRECTORY=str(spool))
        until(lambda: any(spool.glob("*.health")), seconds=TIMEOUT)
        busy = share(worker.pid, BUSY_SECONDS)
        time.sleep(QUIET_SECONDS - BUSY_SECONDS + 5.0)  # until the next heartbeat has lengthened the intervals
        idle = share(worker.pid, IDLE_SECONDS)
    assert idle <= MAX_RATIO * busy, (idle, busy)
