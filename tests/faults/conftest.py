import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np
import pytest

from app.database.keyset import PageRequest
from app.datasets.records import Dataset
from app.formats.streams import TableStream
from app.identity import BUILT_IN_OWNER
from app.jobs.records import Job
from app.maintenance.administration import migrate
from app.services import ProcessParts, build
from app.settings import Settings
from relevance_bayes.tables.columns import NumberArray
from relevance_bayes.tasks.fit import Trainer
from relevance_bayes.tasks.supervised.request import SupervisedRequest
from tests import postgres
from tests.jobs.worker import trainers
from tests.processes import stopped
from tests.waiting import until

ROOT = Path(__file__).parents[2]
on_sqlite = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
"""For what has nothing to do with the database."""

mostly_on_postgresql = pytest.mark.parametrize(
    "database", [pytest.param("sqlite", marks=pytest.mark.long), "postgresql"], indirect=True
)
mostly_on_sqlite = pytest.mark.parametrize(
    "database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)], indirect=True
)
"""For what other tests do on both databases, up to the step that they are about: `make long` runs them on both."""

AS_SHIPPED = ("-m", "app.cli", "worker", "--until-eof")
JOB_LOG = "app.jobs.worker.job_log"
WITH_DOUBLES = ("-m", "tests.faults.worker")


@dataclass
class Place:
    """A service on a database of its own, whose workers are real processes and die in every way."""

    settings: Settings
    parts: ProcessParts
    folder: Path
    marks: Path
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start_worker(
        self, program: tuple[str, ...] = WITH_DOUBLES, *, before: tuple[str, ...] = (), **more: str
    ) -> subprocess.Popen[bytes]:
        """A process of this service; `before` is a command that starts it, `more` are settings of its own."""
        given = {
            "RELEVANCE_DATABASE_URL": self.settings.database_url,
            "RELEVANCE_SPOOL_DIRECTORY": str(self.folder / "spool"),
            "RELEVANCE_HEARTBEAT_INTERVAL_SECONDS": str(self.settings.heartbeat_interval_seconds),
            "RELEVANCE_HEARTBEAT_TIMEOUT_SECONDS": str(self.settings.heartbeat_timeout_seconds),
            "RELEVANCE_POLL_SECONDS": str(self.settings.poll_seconds),
            "RELEVANCE_CHECKPOINT_SECONDS": str(self.settings.checkpoint_seconds),
            "RELEVANCE_PORT": "0",
            "RELEVANCE_WORKER_SLOTS": "1",
            trainers.MARKS: str(self.marks),
        }
        with (self.folder / f"worker-{len(self.workers)}.log").open("wb") as log:
            # Each ends with its standard input, and so with these tests, should they be killed themselves.
            worker = subprocess.Popen(
                [*before, sys.executable, *program],
                cwd=ROOT,
                env=os.environ | given | more,
                stdin=subprocess.PIPE,
                stderr=log,
            )
        self.workers.append(worker)
        return worker

    def sinc(self, rows: int, *, draw: int = 0) -> Dataset:
        """sin(x)/x with Gaussian noise."""
        rng = np.random.default_rng(draw)
        x = rng.uniform(-10, 10, rows)
        block = {"x": NumberArray(x), "y": NumberArray(np.sinc(x / np.pi) + 0.1 * rng.normal(size=rows))}
        return self.parts.ingest.receive(
            BUILT_IN_OWNER, "sinc", TableStream(names=("x", "y"), kinds=("number", "number"), blocks=iter([block]))
        ).dataset

    def submit(self, trainer: Trainer, *, rows: int = 200) -> Job:
        """A job over sinc with noise, whose child does what a stand-in does."""
        dataset = self.sinc(rows)
        seed = trainers.spec_of(trainer).seed
        return self.parts.training.submit(BUILT_IN_OWNER, SupervisedRequest(dataset.id, "y", effort="quick", seed=seed))

    def look(self, job: Job) -> Job:
        return self.parts.jobs.get(BUILT_IN_OWNER, job.id)

    def started(self, number: int = 1) -> list[int]:
        """The process ids of fits that have begun, once there are so many."""
        until(lambda: len(self._begun()) >= number, seconds=60)
        return self._begun()

    def _begun(self) -> list[int]:
        return [int(mark.name) for mark in self.marks.iterdir() if mark.name.isdigit()]

    def freeze(self, worker: subprocess.Popen[bytes]) -> None:
        """Stop it in its tracks, though not while it holds the one write lock of SQLite, which would stop everybody."""
        writable = False
        while not writable:
            worker.send_signal(signal.SIGSTOP)
            until(lambda: stopped(worker.pid))
            writable = self._writable()
            if not writable:
                worker.send_signal(signal.SIGCONT)

    def _writable(self) -> bool:
        url = self.settings.url
        if url.get_backend_name() != "sqlite":
            return True
        with closing(sqlite3.connect(str(url.database), timeout=0.1, isolation_level=None)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return False
            return True

    def open_the_gate(self) -> None:
        (self.marks / trainers.GATE).touch()

    def ended(self, job: Job, *, seconds: float = 30.0) -> Job:
        """The job, once it has."""
        until(lambda: self.look(job).finished_at is not None, seconds=seconds)
        return self.look(job)

    def lines(self, number: int) -> list[dict[str, object]]:
        """The log of the worker of this number, from 0."""
        return [json.loads(line) for line in (self.folder / f"worker-{number}.log").read_text().splitlines()]

    def job_events(self, number: int) -> list[tuple[object, object]]:
        """Event and attempt of the lines about jobs in a worker's log."""
        return [(line["event"], line["attempt"]) for line in self.lines(number) if line["logger"] == JOB_LOG]

    def other_events(self, number: int) -> list[object]:
        """Events of all other lines in a worker's log."""
        return [line["event"] for line in self.lines(number) if line["logger"] != JOB_LOG]

    def versions(self, job: Job) -> int:
        """The number that it has made."""
        made = self.parts.catalogue.versions(BUILT_IN_OWNER, job.for_model, PageRequest(100)).items
        return sum(version.job_id == job.id for version in made)


class MakePlace(Protocol):
    def __call__(self, *, interval: float = 0.3, limit: float = 1.5, checkpoint: float = 5.0) -> Place: ...


@pytest.fixture
def make_place(database_url: str, tmp_path: Path) -> Iterator[MakePlace]:
    places: list[Place] = []

    def make(*, interval: float = 0.3, limit: float = 1.5, checkpoint: float = 5.0) -> Place:
        marks = tmp_path / "marks"
        marks.mkdir()
        settings = Settings(
            database_url=database_url,
            heartbeat_interval_seconds=interval,
            heartbeat_timeout_seconds=limit,
            poll_seconds=0.1,
            checkpoint_seconds=checkpoint,
        )
        migrate(settings)
        places.append(Place(settings, build(settings), tmp_path, marks))
        return places[-1]

    yield make
    for place in places:
        for worker in place.workers:
            worker.kill()
            worker.communicate()
        place.parts.close()


@pytest.fixture
def mortal() -> Iterator[postgres.MortalServer]:
    programs = postgres.programs()
    if programs is None:
        pytest.skip(f"PostgreSQL is not installed: {postgres.INSTALL}")
    with postgres.mortal(programs) as server:
        yield server


@pytest.fixture
def lone_place(mortal: postgres.MortalServer, tmp_path: Path) -> Iterator[Place]:
    """On a server of its own."""
    mortal.create("relevance")
    url = mortal.url("relevance").render_as_string(hide_password=False)
    settings = Settings(
        database_url=url, heartbeat_interval_seconds=0.3, heartbeat_timeout_seconds=1.5, poll_seconds=0.1
    )
    migrate(settings)
    marks = tmp_path / "marks"
    marks.mkdir()
    made = Place(settings, build(settings), tmp_path, marks)
    yield made
    for worker in made.workers:
        worker.kill()
        worker.communicate()
    made.parts.close()
