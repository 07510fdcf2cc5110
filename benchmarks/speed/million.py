"""A million rows through the running service: from a file into the database, from there to a model."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter

import numpy as np

from benchmarks.options import Options
from benchmarks.report import Table
from benchmarks.serving.processes import processes
from examples.demo.service import running_service
from relevance_bayes.client import Client, connect
from relevance_bayes.client.responses import Json

ROWS, QUICK_ROWS = 1_000_000, 100_000
INPUTS = 10
VECTORS = 128
LOOK_SECONDS = 0.1
CHILD = b"app.jobs.child"

PRIOR: dict[str, Json] = {"type": "gaussian_process", "max_functions": VECTORS, "min_gain": 1e-6}

NOTES = """\
Friedman's first function, noise of sd 1. Everything runs at once as `relevance serve` starts it: the API, a worker,
SQLite. Seconds are those of the clock. The job is timed from its request to its end, with the passes over the
dataset's blocks. Memory is the greatest resident one of the fit's process, pages of the mapped rows counted."""


def million(options: Options) -> list[Table]:
    """Upload as CSV and as Parquet, then one job."""
    rows = QUICK_ROWS if options.quick else ROWS
    with TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, rows)
        with running_service(folder / "benchmark.db", log=folder / "server.log") as url, connect(url) as calls:
            lines = [_upload(calls, folder / f"rows.{kind}") for kind in ("csv", "parquet")]
            (dataset, _) = calls.datasets()
            with peak_of_children(lambda: processes(os.getpid())) as peak:
                start = perf_counter()
                job = calls.trainings.wait(
                    calls.trainings.submit({"dataset_id": dataset.id, "target": "y", "prior": PRIOR}).id
                )
                seconds = perf_counter() - start
            version = calls.version(job.model)
    lines.append(("job", f"{version.functions} functions", f"{seconds:.1f}", f"{peak[0] / 1e6:.0f}"))
    title = f"{rows:,} rows of {INPUTS} inputs, at most {VECTORS} vectors, through the service"
    return [Table(title, ("what", "", "seconds", "peak MB"), tuple(lines), (NOTES,))]


def _upload(calls: Client, file: Path) -> tuple[str, ...]:
    start = perf_counter()
    calls.upload(file)
    return f"upload, {file.suffix}", f"{file.stat().st_size / 1e6:.0f} MB", f"{perf_counter() - start:.1f}", ""


def write(folder: Path, rows: int) -> None:
    """Write so many rows as rows.csv and as rows.parquet."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    rng = np.random.default_rng(2027)
    X = rng.random((rows, INPUTS))
    f = 10.0 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20.0 * (X[:, 2] - 0.5) ** 2 + 10.0 * X[:, 3] + 5.0 * X[:, 4]
    columns = {f"x{k + 1}": X[:, k] for k in range(INPUTS)} | {"y": f + rng.standard_normal(rows)}
    table = pa.table(columns)
    parquet.write_table(table, folder / "rows.parquet")
    csv.write_csv(table, folder / "rows.csv")


@contextmanager
def peak_of_children(pids: Callable[[], Iterable[int]]) -> Iterator[list[int]]:
    """The greatest resident memory, in bytes, of a fit's process among these while the context lives; 0 off Linux."""
    peak, over = [0], Event()

    def watch() -> None:
        while not over.wait(LOOK_SECONDS):
            for process in (Path("/proc", str(pid)) for pid in pids()):
                with suppress(OSError):
                    if CHILD in (process / "cmdline").read_bytes():
                        peak[0] = max(peak[0], _resident(process))

    watching = Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield peak
    finally:
        over.set()
        watching.join()


def _resident(process: Path) -> int:
    for line in (process / "status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return 1024 * int(line.split()[1])
    return 0
