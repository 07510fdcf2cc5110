"""Ten minutes of everything at once: whether answers stay as quick, and the process as large, as they were."""

from contextlib import ExitStack
from time import perf_counter

import numpy as np

from benchmarks.jobs.deployment import on_sqlite
from benchmarks.options import Options
from benchmarks.report import Table
from benchmarks.serving.forms import ARROW, BYTES, NPY, ROWS, TENSORS
from benchmarks.serving.load import Request, busy, load
from benchmarks.serving.model import points
from benchmarks.serving.processes import ours, train

MANY, BATCH = 1_000, 100_000
CONNECTIONS, REQUESTS_AT_ONCE = 4, 400

NOTES = """\
`relevance api` with a key and its log, one process, on SQLite. Four connections predict one row each in JSON, again and
again; meanwhile one client posts 1,000 rows in JSON, tensors in JSON and as bytes, npy and Arrow, in turn, and another
100,000 rows in JSON, npy and Arrow. Memory is what the process holds when the stretch ends."""


def endurance(options: Options) -> list[Table]:
    """A row for each minute."""
    stretches, seconds = (3, 5.0) if options.quick else (10, 60.0)
    with on_sqlite() as deploy, deploy() as deployment:
        train(deployment)
        server = ours(deployment, "ours", log=True)
        small = server.request(points(1))
        rows = [("before", "0", "", "", f"{server.megabytes():.0f}")]
        with ExitStack() as others:
            for size, forms in ((MANY, (ROWS, TENSORS, BYTES, NPY, ARROW)), (BATCH, (ROWS, NPY, ARROW))):
                others.enter_context(busy(*(server.request(points(size), form) for form in forms)))
            for stretch in range(stretches):
                durations = _seconds_of(small, seconds)
                median, late = (f"{1e3 * float(np.quantile(durations, share)):.1f}" for share in (0.5, 0.99))
                until = f"{(stretch + 1) * seconds:.0f} s"
                rows.append((until, f"{len(durations):,}", median, late, f"{server.megabytes():.0f}"))
    return [
        Table(
            "Ten minutes of mixed load", ("until", "single rows", "ms, median", "ms, p99", "MB"), tuple(rows), (NOTES,)
        )
    ]


def _seconds_of(request: Request, seconds: float) -> list[float]:
    """The seconds that each answer took, of as many as come in so many seconds."""
    until, durations = perf_counter() + seconds, list[float]()
    while perf_counter() < until:
        durations += load(request, requests=REQUESTS_AT_ONCE, connections=CONNECTIONS).each
    return durations
