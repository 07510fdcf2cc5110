"""The sizes of a deployment: predictions and memory by API processes, trainings by rows."""

import os
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.jobs.deployment import Deployment, on_postgresql
from benchmarks.options import Options
from benchmarks.report import Table
from benchmarks.serving.load import load
from benchmarks.serving.model import points
from benchmarks.serving.processes import Server, ours, processes, train
from benchmarks.speed.million import peak_of_children, write
from relevance_bayes.client import connect

PROCESSES = (1, 2, 4)
REQUESTS: Mapping[int, int] = {1: 2_000, 100: 500, 10_000: 20}
"""Requests to each process, by the rows of one request."""
CONNECTIONS, ROUNDS = 4, 30
SIZES, QUICK_SIZES = (1_000, 10_000, 100_000), (1_000, 10_000)

PREDICTIONS = """\
`relevance api` with a key and its log of requests, on PostgreSQL, with a model of 20 vectors and 4 inputs, in JSON:
rows with mean, variance and interval. A client on the same two cores keeps four connections to each process. Rates are
those of the best of 30 rounds, since the machine does other work; CPU is the median of the rounds. Memory is the
resident memory of one process, before the first request and after the last."""

TRAININGS = """\
A table of 10 inputs, Friedman's first function with noise, trained with nothing but `dataset_id` and `target`, by a
worker of one slot, whose fits have one thread on two cores. CPU is that of the worker and its processes from the
request to the job's end. Memory is the largest resident memory of the fit's process, pages of the mapped rows
included, and that of the worker beside it. One training of each."""


def sizing(options: Options) -> list[Table]:
    """Both tables, on PostgreSQL."""
    with on_postgresql() as deploy:
        with deploy() as deployment:
            train(deployment)
            rounds = options.rounds if options.quick else ROUNDS
            rows = [row for number in PROCESSES for row in _predictions(deployment, number, rounds)]
        trainings = []
        for size in QUICK_SIZES if options.quick else SIZES:
            with deploy() as deployment:
                trainings.append(_training(deployment, size))
    header = ("API processes", "rows of a request", "requests/s", "rows/s", "CPU ms of a request", "MB, idle / after")
    return [
        Table("Predictions by number of API processes", header, tuple(rows), (PREDICTIONS,)),
        Table("Trainings by rows", ("rows", "CPU s", "fit MB", "worker MB"), tuple(trainings), (TRAININGS,)),
    ]


def _predictions(deployment: Deployment, number: int, rounds: int) -> list[tuple[str, ...]]:
    servers = [ours(deployment, f"process {one}", log=True) for one in range(number)]
    idle = max(server.megabytes() for server in servers)
    found = {rows: _figures(servers, rows, requests, rounds) for rows, requests in REQUESTS.items()}
    after = max(server.megabytes() for server in servers)
    deployment.stop()
    return [
        (str(number), f"{rows:,}", f"{rate:,.0f}", f"{rate * rows:,.0f}", f"{cpu:.2f}", f"{idle:.0f} / {after:.0f}")
        for rows, (rate, cpu) in found.items()
    ]


def _figures(servers: list[Server], rows: int, requests: int, rounds: int) -> tuple[float, float]:
    """Requests in a second to all servers together, and milliseconds of CPU of a request."""
    each = [server.request(points(rows)) for server in servers]
    load(*each, requests=CONNECTIONS, connections=CONNECTIONS)
    rates, cpu = [], []
    for _ in range(rounds):
        before = sum(server.cpu() for server in servers)
        timed = load(*each, requests=requests, connections=CONNECTIONS)
        rates.append(len(timed.each) / timed.together)
        cpu.append(1e3 * (sum(server.cpu() for server in servers) - before) / len(timed.each))
    return max(rates), median(cpu)


def _training(deployment: Deployment, size: int) -> tuple[str, ...]:
    worker = Server("worker", "", deployment.worker().pid)
    with (
        TemporaryDirectory() as name,
        connect(deployment.api()) as calls,
        peak_of_children(lambda: processes(worker.pid)) as peak,
    ):
        write(Path(name), size)
        dataset = calls.upload(Path(name, "rows.parquet")).id
        before = _cpu(worker.pid)
        job = calls.trainings.wait(calls.trainings.submit({"dataset_id": dataset, "target": "y"}).id)
        if job.state != "succeeded":
            raise RuntimeError(f"the job ended as {job.state}: {job.error}")
        seconds = _cpu(worker.pid) - before
        beside = int(Path(f"/proc/{worker.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return f"{size:,}", f"{seconds:.0f}", f"{peak[0] / 1e6:.0f}", f"{beside / 1e6:.0f}"


def _cpu(pid: int) -> float:
    """Seconds of CPU of a process and all that it has started, also of those that have ended since."""
    ticks = 0
    for one in processes(pid):
        user, system, of_ended, system_of_ended = (
            Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()[11:15]
        )
        ticks += sum(map(int, (user, system, of_ended, system_of_ended)))
    return ticks / os.sysconf("SC_CLK_TCK")
