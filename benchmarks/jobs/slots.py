"""Small trainings a minute by the slots of one worker: alternating rounds, with the load of the machine at each."""

import os
import time
from statistics import median

import numpy as np

from benchmarks.jobs.deployment import WORKER_BEGINS, Deploy, on_sqlite
from benchmarks.jobs.running import seconds_for_each
from benchmarks.options import Options
from benchmarks.report import Table
from relevance_bayes.client import connect

ROWS, INPUTS = 150, 5
SLOTS = (1, 2)
JOBS, ROUNDS = 60, 5
QUICK_JOBS, QUICK_ROUNDS = 12, 2

NOTES = """\
Trainings of 150 rows and 5 inputs with the default settings, all in the queue before the worker begins, on SQLite:
`relevance api` and one `relevance worker`, each fit with one thread of linear algebra. Seconds from the first end to
the last, for each further job. The ratio is that of the round, so that what else the machine does cancels in part; the
load is that of the last minute before the round."""


def slots(options: Options) -> list[Table]:
    """Alternating rounds of one slot and of two."""
    jobs, rounds = (QUICK_JOBS, QUICK_ROUNDS) if options.quick else (JOBS, ROUNDS)
    rows, ratios = [], []
    with on_sqlite() as deploy:
        for number in range(rounds):
            load = os.getloadavg()[0]
            # Each goes first as often as the other.
            order = SLOTS if number % 2 == 0 else SLOTS[::-1]
            found = {n_slots: _seconds(deploy, n_slots, jobs) for n_slots in order}
            ratios.append(found[1] / found[2])
            cells = [f"{60.0 / found[n_slots]:,.0f}" for n_slots in SLOTS]
            rows.append((str(number + 1), f"{load:.1f}", *cells, f"{ratios[-1]:.2f}"))
    rows.append(("median", "", "", "", f"{median(ratios):.2f}"))
    header = ("round", "load", "jobs a minute, 1 slot", "2 slots", "ratio")
    return [Table(f"Small trainings by slots, {os.cpu_count()} cores", header, tuple(rows), (NOTES,))]


def _seconds(deploy: Deploy, n_slots: int, jobs: int) -> float:
    rng = np.random.default_rng(2027)
    inputs = rng.standard_normal((ROWS, INPUTS))
    columns = {f"x{number}": inputs[:, number].tolist() for number in range(INPUTS)}
    target = inputs[:, 0] + np.sin(inputs[:, 1]) + 0.1 * rng.standard_normal(ROWS)
    with deploy() as deployment, connect(deployment.api()) as calls:
        dataset = calls.create_dataset({**columns, "y": target.tolist()}, name="small")
        for seed in range(jobs):
            calls.trainings.submit({"dataset_id": dataset.id, "target": "y", "seed": seed})
        deployment.worker(worker_slots=n_slots)
        time.sleep(WORKER_BEGINS)
        return seconds_for_each(calls, jobs)
