"""`make chaos`: the service in containers, each of which is killed, and every job ends once.

Two API processes, three workers and PostgreSQL. First its disk is full while a version is to be written, and then has
space again. Then jobs are run undisturbed, and again while one container after another is killed and started. Prints
what it saw; exits with 1 where something is wrong.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from relevance_bayes.client import Client
from relevance_bayes.client.responses import SupervisedJob
from tests.faults.chaos.containers import Containers, engine_is_there, running
from tests.faults.chaos.full_disk import full_disk
from tests.faults.chaos.jobs import faults, submitted
from tests.faults.chaos.killing import Killing

MAX_TIMES_LONGER = 2.0
LOOK_SECONDS = 1.0
LOG = Path(tempfile.gettempdir(), "relevance-chaos.log")


def main() -> None:
    """Run, print the results, and end with 1 where something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.chaos", description=__doc__)
    parser.add_argument("--jobs", type=int, default=50)
    parser.add_argument("--seed", type=int, default=2027)
    given = parser.parse_args()
    if not engine_is_there():
        sys.exit("There is no container engine here: chaos needs `docker`, running, and `docker compose`.")
    with running() as containers:
        wrong = [*full_disk(containers), *_run(containers, given.jobs, np.random.default_rng(given.seed))]
        if wrong:
            LOG.write_text(containers.words())
            print(*(f"WRONG: {one}" for one in wrong), f"What the containers said is in {LOG}.", sep="\n")
            sys.exit(1)
    print("Nothing was lost, and nothing done twice.")


def _run(containers: Containers, number: int, draw: np.random.Generator) -> Iterator[str]:
    """The errors found."""
    began = time.monotonic()
    calm = list(_ended(containers, submitted(containers, number, "calm")))
    undisturbed = time.monotonic() - began
    print(f"{number} jobs undisturbed: {undisturbed:.0f} s; {_fits(calm)}", flush=True)

    began = time.monotonic()
    queued = submitted(containers, number, "stormy")
    stormy: list[SupervisedJob] = []
    with Killing(containers, draw) as killing:
        for job in _ended(containers, queued):
            stormy.append(job)
            killing.done = len(stormy) / number
        disturbed = time.monotonic() - began
    print(f"{number} jobs disturbed: {disturbed:.0f} s, {disturbed / undisturbed:.2f} times as long; {_fits(stormy)}")
    print(f"killed: {killing}; questions asked again: {containers.refused}", flush=True)

    yield from faults(containers, calm, calm)
    yield from faults(containers, stormy, calm)
    if killing.spared:
        yield f"{len(killing.spared)} containers were never killed: the jobs had ended before"
    if disturbed > MAX_TIMES_LONGER * undisturbed:
        yield f"it took more than {MAX_TIMES_LONGER:g} times as long"


def _ended(containers: Containers, jobs: list[SupervisedJob]) -> Iterator[SupervisedJob]:
    """Them, each once it has."""
    for job in jobs:
        while not (found := containers.retry(partial(_look, job))).has_ended:
            time.sleep(LOOK_SECONDS)
        yield found


def _look(job: SupervisedJob, calls: Client) -> SupervisedJob:
    return calls.trainings.get(job.id)


def _fits(jobs: list[SupervisedJob]) -> str:
    """The seconds from their last starts, and the number of starts."""
    seconds = [
        (job.finished_at - max(move.at for move in job.transitions if move.state == "running")).total_seconds()
        for job in jobs
        if job.finished_at is not None and job.attempt
    ]
    resumed = sum(job.resumed_from is not None for job in jobs)
    return (
        f"{min(seconds):.0f} s to {max(seconds):.0f} s from a job's last start to its end, "
        f"{sum(job.attempt for job in jobs)} starts, {resumed} jobs went on from what was kept"
    )


if __name__ == "__main__":
    main()
