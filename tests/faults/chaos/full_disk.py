"""A disk without room while a version is written: it is recorded once there is some, whole, and once."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np

from relevance_bayes.client import Client
from relevance_bayes.client.responses import Json, SupervisedJob
from tests.faults.chaos.containers import Containers
from tests.faults.chaos.jobs import faults

DISK = "/room"
"""A file system in memory within the database's container, of some megabytes (compose.yml)."""

ROWS = 1_000
LOOK_SECONDS = 0.5
TIMES_LONGER = 2.0
"""For so many times as long as such a job takes, and these seconds more, there is no room."""

MORE_SECONDS = 10.0
MOVES = 20
"""Attempts to move the tables: each waits for all who use one of them, and may be the one of two that gives up."""

NARROW: list[Json] = [{"type": "kernel", "kernel": {"type": "gaussian"}, "width": {"type": "fixed", "value": 0.05}}]
"""Hundreds of functions for waves as narrow: a version for which no page that is there already has space."""


def full_disk(containers: Containers) -> Iterator[str]:
    """The errors found."""
    (database,) = containers.each("database")
    with _tables_on_the_disk(containers, database):
        began = time.monotonic()
        like = _ended(containers, _submitted(containers, "roomy"))
        usual = time.monotonic() - began
        job = _submitted(containers, "cramped")
        while _look(containers, job).state == "queued":
            time.sleep(LOOK_SECONDS)
        containers.run(database, "sh", "-c", f"dd if=/dev/zero of={DISK}/ballast bs=8k 2>/dev/null; df {DISK}")
        time.sleep(TIMES_LONGER * usual + MORE_SECONDS)
        cramped = _look(containers, job)
        if cramped.has_ended:
            yield f"{job.model} ended as {cramped.state} where there was no room for that"
        refused = "No space left on device" in containers.given(database)
        if not refused:
            yield "the database never said that it had no room"
        containers.run(database, "rm", f"{DISK}/ballast")
        ended = _ended(containers, job)
        print(
            f"a disk without room: the job was {cramped.state} for {TIMES_LONGER * usual + MORE_SECONDS:.0f} s,"
            f" where it takes {usual:.0f} s; with room again it {ended.state}, {ended.attempt} starts",
            flush=True,
        )
        yield from faults(containers, [ended], [like])


@contextmanager
def _tables_on_the_disk(containers: Containers, database: str) -> Iterator[None]:
    """The service's tables are there; the database's own journal has a disk of its own."""
    containers.run(database, "mkdir", "-m", "700", f"{DISK}/tables")
    _query(containers, database, f"CREATE TABLESPACE room LOCATION '{DISK}/tables'")
    _move(containers, database, "pg_default", "room")
    yield
    _move(containers, database, "room", "pg_default")
    _query(containers, database, "DROP TABLESPACE room")


def _move(containers: Containers, database: str, there: str, here: str) -> None:
    for kind in ("TABLE", "INDEX"):
        for left in reversed(range(MOVES)):
            try:
                _query(containers, database, f"ALTER {kind} ALL IN TABLESPACE {there} SET TABLESPACE {here}")
                break
            except RuntimeError:
                if not left:
                    raise


def _query(containers: Containers, database: str, query: str) -> None:
    containers.run(database, "psql", "-v", "ON_ERROR_STOP=1", "-U", "relevance", "-d", "relevance", "-c", query)


def _submitted(containers: Containers, model: str) -> SupervisedJob:
    return containers.retry(partial(_submit, model=model))


def _submit(calls: Client, model: str) -> SupervisedJob:
    draw = np.random.default_rng(7)
    x = draw.uniform(-10.0, 10.0, ROWS)
    y = np.sin(40.0 * x) + 0.01 * draw.standard_normal(ROWS)
    dataset = calls.create_dataset({"x": x.tolist(), "y": y.tolist()}, name=model)
    requested: dict[str, Json] = {"dataset_id": dataset.id, "target": "y", "model": model, "basis": NARROW}
    return calls.trainings.submit({**requested, "prior": {"type": "independent"}, "effort": "quick"})


def _look(containers: Containers, job: SupervisedJob) -> SupervisedJob:
    return containers.retry(lambda calls: calls.trainings.get(job.id))


def _ended(containers: Containers, job: SupervisedJob) -> SupervisedJob:
    while not (found := _look(containers, job)).has_ended:
        time.sleep(LOOK_SECONDS)
    return found
