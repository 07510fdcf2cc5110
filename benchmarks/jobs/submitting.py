"""The time of a submission: alone, among others, and behind a long queue."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

from app.database.keyset import PageRequest
from app.identity import BUILT_IN_OWNER
from app.jobs.statistics_repository import BacklogRepository
from app.registry.trainings import TRAINING
from app.services import build
from benchmarks.jobs import requests
from benchmarks.jobs.cells import Cells, milliseconds, typical_and_worst
from benchmarks.jobs.deployment import Deploy, Deployment
from benchmarks.jobs.running import seconds_for_each
from benchmarks.options import Options
from relevance_bayes.client import Client, connect
from relevance_bayes.client.drivers import finished
from relevance_bayes.client.jobs import TRAININGS
from relevance_bayes.client.responses import Json

AT_ONCE = 12
SHORT_QUEUE, LONG_QUEUE, QUICK_LONG_QUEUE = 100, 10_000, 1_000
PAGE: Mapping[str, int] = {"limit": 20}


def submitting(deploy: Deploy, options: Options) -> Cells:
    """Submissions over HTTP to one API process, while nobody works."""
    number = 48 if options.quick else 240
    with deploy() as deployment, connect(deployment.api()) as calls:
        request = requests.empty(calls)
        url = calls.http.driver.url
        _submissions(calls, request, 10)
        alone = _submissions(calls, request, number)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            together = list(pool.map(lambda _: _from_another(url, request, number // AT_ONCE), range(AT_ONCE)))
    return {
        "submit: median / p99": typical_and_worst(alone),
        f"submit, {AT_ONCE} at once: median / p99": typical_and_worst([one for each in together for one in each]),
    }


def queueing(deploy: Deploy, options: Options) -> Cells:
    """Submissions, lists and work behind a short queue and a long one."""
    number, longest = (30, QUICK_LONG_QUEUE) if options.quick else (200, LONG_QUEUE)
    cells: dict[str, str] = {}
    with deploy() as deployment, connect(deployment.api()) as calls:
        request = requests.empty(calls)
        _submissions(calls, request, 10)
        for queued in (SHORT_QUEUE, longest):
            _fill(deployment, queued)
            listed = [_seconds(lambda: finished(calls.http.get(object, TRAININGS, PAGE))) for _ in range(number)]
            cells[f"list 20 of {queued:,} queued: median / p99"] = typical_and_worst(listed)
            cells[f"submit behind {queued:,} queued: median / p99"] = typical_and_worst(
                _submissions(calls, request, number)
            )
        deployment.worker()
        cells[f"a job's end to the next one's, {longest:,} queued"] = milliseconds(
            seconds_for_each(calls, 10 if options.quick else 40)
        )
    return cells


def _from_another(url: str, request: Mapping[str, Json], number: int) -> list[float]:
    with connect(url) as calls:
        return _submissions(calls, request, number)


def _submissions(calls: Client, request: Mapping[str, Json], number: int) -> list[float]:
    return [_seconds(lambda: calls.trainings.submit(request)) for _ in range(number)]


def _seconds(call: Callable[[], object]) -> float:
    start = perf_counter()
    call()
    return perf_counter() - start


def _fill(deployment: Deployment, queued: int) -> None:
    """Queue as many jobs as the newest one as are missing, without HTTP."""
    parts = build(deployment.settings)
    with parts.base.transaction() as tx:
        there = len(BacklogRepository(tx).page(after=None, limit=queued))
    request, _ = TRAINING.read(parts.jobs.page(BUILT_IN_OWNER, PageRequest(1)).items[0])
    for _ in range(queued - there):
        parts.training.submit(BUILT_IN_OWNER, request)
    parts.close()
