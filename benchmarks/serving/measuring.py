"""Rounds in which the applications take turns, so that what else the machine does falls on all of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter, process_time

import numpy as np

from app.identity import BUILT_IN_OWNER
from app.prediction.served_versions import ServedVersions
from app.services import build
from benchmarks.jobs.deployment import Deployment
from benchmarks.serving.forms import NAME, Form
from benchmarks.serving.load import Timed, busy, load
from benchmarks.serving.model import points
from benchmarks.serving.processes import Server
from relevance_bayes.tasks.supervised.prediction import SupervisedModel

WARM_UP = 20


@dataclass(frozen=True)
class Costs:
    """The cost of requests to an application, one figure a round: seconds of CPU for each, and their times."""

    cpu: Sequence[float]
    timed: Sequence[Timed]

    @property
    def microseconds(self) -> float:
        """CPU of a request, the median of the rounds."""
        return 1e6 * median(self.cpu)

    @property
    def per_second(self) -> float:
        """Requests answered in a second, the median of the rounds."""
        return median(len(one.each) / one.together for one in self.timed)

    def milliseconds(self, share: float) -> float:
        """A quantile of the times of all rounds."""
        return 1e3 * float(np.quantile([took for one in self.timed for took in one.each], share))

    def beside(self, other: "Costs") -> float:
        """The ratio of CPU to the other's, the median of the rounds."""
        return median(mine / theirs for mine, theirs in zip(self.cpu, other.cpu, strict=True))


def taking_turns(
    forms: Mapping[Server, Form], *, rows: int, requests: int, connections: int, rounds: int
) -> Mapping[str, Costs]:
    """By the servers' names, each with requests in its form."""
    cpu: dict[str, list[float]] = {server.name: [] for server in forms}
    timed: dict[str, list[Timed]] = {server.name: [] for server in forms}
    for _ in range(rounds):
        for server, form in forms.items():
            request = server.request(points(rows), form)
            load(request, requests=WARM_UP, connections=connections)
            before = server.cpu()
            timed[server.name].append(load(request, requests=requests, connections=connections))
            cpu[server.name].append((server.cpu() - before) / requests)
    return {name: Costs(cpu[name], timed[name]) for name in cpu}


@dataclass(frozen=True)
class Mixed:
    """Times of one row alone and while another client posts large batches, of which each took `batches` seconds."""

    alone: Timed
    beside: Timed
    batches: Sequence[float]


def mixed(server: Server, *, rows: int, requests: int, connections: int, rounds: int) -> list[Mixed]:
    """Each round first alone."""
    small, large = server.request(points(1)), server.request(points(rows))
    found = []
    for _ in range(rounds):
        alone = load(small, requests=requests, connections=connections)
        with busy(large) as seconds:
            beside = load(small, requests=requests, connections=connections)
        found.append(Mixed(alone, beside, seconds))
    return found


def from_memory_to_memory(deployment: Deployment, rows: int, times: int) -> float:
    """Seconds of CPU that the core takes to predict so many rows."""
    parts = build(deployment.settings)
    known = parts.prediction.version(BUILT_IN_OWNER, NAME).model
    parts.close()
    assert isinstance(known, SupervisedModel)
    X = points(rows)
    return median(_seconds(lambda: known.ready.predict(X), process_time) for _ in range(times))


def cold(deployment: Deployment, times: int) -> float:
    """Seconds until a version is loaded, of a process that has loaded others."""
    parts = build(deployment.settings)
    parts.prediction.version(BUILT_IN_OWNER, NAME)
    seconds = median(
        _seconds(lambda: ServedVersions(parts.base.transaction, 10**7).version(BUILT_IN_OWNER, NAME), perf_counter)
        for _ in range(times)
    )
    parts.close()
    return seconds


def _seconds(work: Callable[[], object], clock: Callable[[], float]) -> float:
    start = clock()
    work()
    return clock() - start
