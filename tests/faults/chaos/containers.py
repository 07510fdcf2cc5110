"""The deployment of `docker-compose.yml` as a project of its own, and calls that outlive its processes."""

import os
import secrets
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from relevance_bayes.client import Client, connect
from relevance_bayes.client.errors import ClientError

ROOT = Path(__file__).parents[3]
COMPOSE = ("compose", "-f", "docker-compose.yml", "-f", "tests/faults/chaos/compose.yml")
TIMEOUT = 180.0
"""Seconds after which a service that does not answer is taken to be lost."""

PAUSE = 0.5

T = TypeVar("T")


@dataclass
class Containers:
    """The containers; `environment` states where their secrets are. `refused` requests had to be sent again."""

    environment: Mapping[str, str]
    key: str
    refused: int = field(default=0, init=False)
    _known: dict[str, list[str]] = field(default_factory=dict, init=False)

    def each(self, service: str) -> list[str]:
        """The ids of a service's containers, also of those that are down."""
        if service not in self._known:
            self._known[service] = self._given(*COMPOSE, "ps", "--all", "--quiet", service).split()
        return self._known[service]

    def kill(self, container: str) -> None:
        """Without a word to its processes."""
        self._given("kill", "--signal", "KILL", container)

    def start(self, container: str) -> None:
        """The containers that were killed."""
        self._given("start", container)

    def run(self, container: str, *command: str) -> str:
        """The output of a command in it, as the database's own user."""
        return self._given("exec", "--user", "postgres", container, *command)

    def given(self, container: str) -> str:
        """The logs of its processes."""
        return self._given("logs", container)

    def retry(self, question: Callable[[Client], T]) -> T:
        """Of one API process, or of another one where that does not answer; raises TimeoutError."""
        give_up = time.monotonic() + TIMEOUT
        while time.monotonic() < give_up:
            for url in self._addresses():
                with connect(url, api_key=self.key) as calls:
                    try:
                        return question(calls)
                    except ClientError as error:
                        if error.problem.status not in {None, 503}:
                            raise
            self.refused += 1
            time.sleep(PAUSE)
        raise TimeoutError(f"no API process answered for {TIMEOUT:g} s")

    def words(self) -> str:
        """The logs of the processes."""
        return self._given(*COMPOSE, "logs", "--no-color")

    def up(self) -> None:
        """Build and start everything, until it is healthy."""
        self._given(*COMPOSE, "up", "--build", "--detach", "--wait", "--quiet-pull")

    def down(self) -> None:
        """Remove everything."""
        self._given(*COMPOSE, "down", "--volumes", "--timeout", "1")

    def _addresses(self) -> Iterator[str]:
        """Of the API processes that are up: their ports change with each start."""
        for container in self.each("api"):
            reported = subprocess.run(
                ["docker", "port", container, "8000/tcp"], capture_output=True, text=True, check=False
            )
            yield from (f"http://{line}" for line in reported.stdout.split()[:1])

    def _given(self, *arguments: str) -> str:
        done = subprocess.run(
            ["docker", *arguments],
            cwd=ROOT,
            env=os.environ | dict(self.environment),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"docker {' '.join(arguments)} ended with {done.returncode}: {done.stderr[-2000:]}")
        return done.stdout + (done.stderr if arguments[0] == "logs" else "")


def engine_is_there() -> bool:
    """Return whether containers can be run here, as compose files specify."""
    try:
        requested = [
            subprocess.run(["docker", *arguments], capture_output=True, check=False)
            for arguments in (["info"], ["compose", "version"])
        ]
    except FileNotFoundError:
        return False
    return not any(response.returncode for response in requested)


@contextmanager
def running() -> Iterator[Containers]:
    """Everything built and started, and removed at the end."""
    key, password = secrets.token_hex(24), secrets.token_hex(24)
    with TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "api_key").write_text(key)
        (folder / "database_password").write_text(password)
        containers = Containers({"CHAOS_SECRETS": name, "CHAOS_PASSWORD": password}, key)
        try:
            containers.up()
            yield containers
        finally:
            containers.down()
