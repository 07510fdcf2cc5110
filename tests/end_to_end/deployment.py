"""The service as it is deployed: real processes on loopback, over a database."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer

import httpx2

from relevance_bayes.client import Client, connect
from relevance_bayes.client.responses import Json, SupervisedJob

TIMEOUT = 120.0
"""Seconds after which something that should have happened is taken to have failed; the machine may be busy."""


@dataclass
class Api:
    """One API process: `calls` are the client's, `http` is for what the client would never send."""

    process: subprocess.Popen[str]
    database_url: str
    calls: Client
    http: httpx2.Client

    def train(self, **request: Json) -> SupervisedJob:
        """A job, succeeded; quick by default."""
        job = self.calls.trainings.wait(self.calls.trainings.submit({"effort": "quick", **request}).id)
        assert job.state == "succeeded", job
        return job


@dataclass
class Deployment:
    """Processes over one database; their standard error is kept in `directory`.

    Their code is that of this working tree, or of another `checkout`, which has an environment of its own.
    """

    database_url: str
    directory: Path
    checkout: Path | None = None
    processes: list[subprocess.Popen[str]] = field(default_factory=list)
    apis: list[Api] = field(default_factory=list)

    @property
    def python(self) -> str:
        """The interpreter of their environment."""
        return sys.executable if self.checkout is None else str(self.checkout / ".venv/bin/python")

    def environment(self, **settings: str) -> dict[str, str]:
        """Theirs: nothing of the settings that this process has."""
        ours = {name: value for name, value in os.environ.items() if not name.startswith("RELEVANCE_")}
        if self.checkout is not None:
            ours.pop("PYTHONPATH", None)
        return ours | {
            "RELEVANCE_DATABASE_URL": self.database_url,
            "RELEVANCE_PORT": "0",
            "RELEVANCE_POLL_SECONDS": "0.1",
            "OPENBLAS_NUM_THREADS": "1",
            **settings,
        }

    def start(self, command: str, descriptors: int | None = None, /, **settings: str) -> subprocess.Popen[str]:
        """`relevance COMMAND`, which ends with its standard input, so that it can't outlive the tests; `descriptors`
        limits its open files."""
        limited = [] if descriptors is None else ["sh", "-c", f'ulimit -n {descriptors} && exec "$@"', "sh"]
        with (self.directory / f"{command}-{len(self.processes)}.log").open("w") as log:
            process = subprocess.Popen(
                [*limited, self.python, "-m", "app.cli", command, "--until-eof"],
                cwd=self.checkout,
                env=self.environment(**settings),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self.processes.append(process)
        return process

    def api(self, descriptors: int | None = None, /, **settings: str) -> Api:
        """A new API process, once it answers."""
        process = self.start("api", descriptors, **settings)
        late = Timer(TIMEOUT, process.kill)
        late.start()
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if found := re.search(r"is at (http://\S+)", line):
                    http = httpx2.Client(base_url=found[1], timeout=TIMEOUT)
                    api = Api(process, self.database_url, connect(found[1]), http)
                    self.apis.append(api)
                    return api
        finally:
            late.cancel()
        raise AssertionError(f"the API did not start: {self.given()}")

    def run(self, *arguments: str) -> str:
        """Run a command to its end, and return what it prints."""
        command = [self.python, "-m", "app.cli", *arguments]
        environment = self.environment()
        done = subprocess.run(
            command, cwd=self.checkout, env=environment, capture_output=True, text=True, timeout=TIMEOUT, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def given(self) -> str:
        """The standard error of all processes."""
        return "\n".join(log.read_text() for log in sorted(self.directory.glob("*.log")))

    def stop(self) -> None:
        """End all processes, as a person would who closes them."""
        for api in self.apis:
            api.calls.http.close()
            api.http.close()
        self.apis.clear()
        for process in self.processes:
            if process.stdin is not None:
                process.stdin.close()
        codes = [self._ended(process) for process in self.processes]
        self.processes.clear()
        assert not any(codes), self.given()

    def _ended(self, process: subprocess.Popen[str]) -> int:
        late = Timer(TIMEOUT, process.kill)
        late.start()
        code = process.wait()
        late.cancel()
        if process.stdout is not None:
            process.stdout.close()
        return code


@contextmanager
def deployed(database_url: str, directory: Path, checkout: Path | None = None) -> Iterator[Deployment]:
    """A deployment without any process yet, all of which are gone at the end."""
    deployment = Deployment(database_url, directory, checkout)
    try:
        yield deployment
    finally:
        deployment.stop()
