"""Small trainings a minute by the slots of one worker: alternating rounds, with the load of the machine at each."""

import os
import time
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.jobs.cells import milliseconds
from benchmarks.jobs.deployment import WORKER_BEGINS, Deploy, on_sqlite
from benchmarks.jobs.running import seconds_for_each
from benchmarks.options import Options
from benchmarks.report import Table
from benchmarks.serving.processes import processes
from relevance_bayes.client import connect
from relevance_bayes.client.drivers import Query, finished
from relevance_bayes.client.responses import TrainingJob
from relevance_bayes.records.json import Page

ROWS, INPUTS = 150, 5
SLOTS = (1, 2)
JOBS, ROUNDS = 60, 5
QUICK_JOBS, QUICK_ROUNDS = 12, 2
SUCCEEDED: Query = {"state": "succeeded", "limit": JOBS}

NOTES = """\
Trainings of 150 rows and 5 inputs with the default settings, all in the queue before the worker begins, on SQLite:
`relevance api` and one `relevance worker`, each fit with one thread of linear algebra. Seconds from the first end to
the last, for each further job. The ratio is that of the round, so that what else the machine does cancels in part; the
load is that of the last minute before the round. `beyond the fit`: those seconds with one slot, less the CPU seconds of
the child processes of fits, a job; on a busy machine it has the waiting for a core too."""


def slots(options: Options) -> list[Table]:
    """Alternating rounds of one slot and of two."""
    jobs, rounds = (QUICK_JOBS, QUICK_ROUNDS) if options.quick else (JOBS, ROUNDS)
    rows, ratios, rests = [], [], []
    with on_sqlite() as deploy:
        for number in range(rounds):
            load = os.getloadavg()[0]
            # Each goes first as often as the other.
            order = SLOTS if number % 2 == 0 else SLOTS[::-1]
            found = {n_slots: _seconds(deploy, n_slots, jobs) for n_slots in order}
            seconds = [found[n_slots][0] for n_slots in SLOTS]
            ratios.append(seconds[0] / seconds[1])
            rests.append(seconds[0] - found[1][1])
            cells = [f"{60.0 / one:,.0f}" for one in seconds]
            rows.append((str(number + 1), f"{load:.1f}", *cells, f"{ratios[-1]:.2f}", milliseconds(rests[-1])))
    rows.append(("median", "", "", "", f"{median(ratios):.2f}", milliseconds(median(rests))))
    header = ("round", "load", "jobs a minute, 1 slot", "2 slots", "ratio", "beyond the fit")
    return [Table(f"Small trainings by slots, {os.cpu_count()} cores", header, tuple(rows), (NOTES,))]


def _seconds(deploy: Deploy, n_slots: int, jobs: int) -> tuple[float, float]:
    """Return the seconds of the clock of a job, and the CPU seconds of its fit."""
    rng = np.random.default_rng(2027)
    inputs = rng.standard_normal((ROWS, INPUTS))
    columns = {f"x{number}": inputs[:, number].tolist() for number in range(INPUTS)}
    target = inputs[:, 0] + np.sin(inputs[:, 1]) + 0.1 * rng.standard_normal(ROWS)
    with deploy() as deployment, connect(deployment.api()) as calls:
        dataset = calls.create_dataset({**columns, "y": target.tolist()}, name="small")
        for seed in range(jobs):
            calls.trainings.submit({"dataset_id": dataset.id, "target": "y", "seed": seed})
        worker = deployment.worker(worker_slots=n_slots)
        time.sleep(WORKER_BEGINS)
        imported = _fit_seconds(worker.pid)
        before = len(finished(calls.http.get(Page[TrainingJob], "/v1/training-jobs", SUCCEEDED)).items)
        seconds = seconds_for_each(calls, jobs)
        return seconds, (_fit_seconds(worker.pid) - imported) / (jobs - before)


def _fit_seconds(worker: int) -> float:
    """Return the CPU seconds of a worker's child processes, those of threads that have ended included."""
    stats = [Path(f"/proc/{pid}/stat").read_text() for pid in processes(worker) if pid != worker]
    ticks = sum(int(ticks) for stat in stats for ticks in stat.rpartition(")")[2].split()[11:13])
    return ticks / os.sysconf("SC_CLK_TCK")
