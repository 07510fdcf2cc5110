"""API and worker processes over a database of their own, SQLite or a PostgreSQL that writes through to its disk."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from app.maintenance.administration import migrate
from app.settings import Settings
from benchmarks.files import NotRun
from tests import postgres

WORKER_BEGINS = 3.0
"""Seconds after which a worker that was started looks for jobs and has a child ready."""


@dataclass
class Deployment:
    """Processes that end with this one."""

    settings: Settings
    folder: Path
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    def api(self, **settings: float | str) -> str:
        """The URL of an API process, the last of `processes`, once it answers."""
        process = self._start("api", **settings)
        assert process.stdout is not None
        for line in process.stdout:
            if found := re.search(r"is at (http://\S+)", line):
                return found[1]
        raise RuntimeError(f"The API did not start: its words are in {self.folder}.")

    def worker(self, **settings: float | str) -> subprocess.Popen[str]:
        """A worker that begins."""
        return self._start("worker", **settings)

    def _start(self, command: str, **settings: float | str) -> subprocess.Popen[str]:
        theirs = {name: value for name, value in os.environ.items() if not name.startswith("RELEVANCE_")}
        given = {f"RELEVANCE_{name.upper()}": str(value) for name, value in settings.items()}
        ours = {
            "RELEVANCE_DATABASE_URL": self.settings.database_url,
            "RELEVANCE_SPOOL_DIRECTORY": str(self.folder / "spool"),
            "RELEVANCE_PORT": "0",
            "RELEVANCE_MAX_QUEUED_JOBS": "1000000",
        }
        with (self.folder / f"{command}-{len(self.processes)}.log").open("w") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "app.cli", command, "--until-eof"],
                env=theirs | ours | given,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self.processes.append(process)
        return process

    def stop(self) -> None:
        """Kill them all."""
        for process in self.processes:
            process.kill()
            process.communicate()


Deploy = Callable[[], AbstractContextManager[Deployment]]
"""Makes a deployment without any process yet, on a new database."""


@contextmanager
def on_sqlite() -> Iterator[Deploy]:
    """Deployments on files."""

    @contextmanager
    def deploy() -> Iterator[Deployment]:
        with TemporaryDirectory() as name, _deployed(f"sqlite:///{name}/benchmark.db", Path(name)) as deployment:
            yield deployment

    yield deploy


@contextmanager
def on_postgresql() -> Iterator[Deploy]:
    """Deployments on databases of one server, which waits for its disk as it is shipped to. Raises NotRun."""
    programs = postgres.programs()
    if programs is None:
        raise NotRun(f"PostgreSQL's programs are not here: {postgres.INSTALL}")
    with postgres.running(programs, options=()) as server:

        @contextmanager
        def deploy() -> Iterator[Deployment]:
            database = f"benchmark_{uuid4().hex}"
            server.create(database)
            with TemporaryDirectory() as name:
                url = server.url(database).render_as_string(hide_password=False)
                with _deployed(url, Path(name)) as deployment:
                    yield deployment
            server.drop(database)

        yield deploy


@contextmanager
def _deployed(url: str, folder: Path) -> Iterator[Deployment]:
    deployment = Deployment(Settings(database_url=url), folder)
    migrate(deployment.settings)
    try:
        yield deployment
    finally:
        deployment.stop()
