"""A deployment in a copy of this checkout: the commands that are run there, and its containers."""

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from relevance_bayes.client import Client, connect
from tests.deploy.operator.page import Page

ROOT = Path(__file__).parents[3]
LOG = Path(gettempdir(), "relevance-operator.log")
TIMEOUT = 900.0
IMAGE = "relevance:operator"
PORTS = {"PROXY_PORT": "8443", "PROMETHEUS_PORT": "9090", "TRACES_PORT": "16686"}
"""The variables of docker-compose.yml for the ports that its page names."""


@dataclass
class Deployment:
    """The deployment in a folder; `environment` gives its compose project a name and free ports of its own."""

    folder: Path
    environment: Mapping[str, str]
    definitions: str = ""

    def run(self, script: str) -> str:
        """The output of a script of the shell; RuntimeError with its output if it fails."""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", self.definitions + script],
            cwd=self.folder,
            env=os.environ | dict(self.environment),
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )
        if done.returncode:
            raise RuntimeError(f"{script}\nended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-3000:]}")
        return done.stdout

    def follow(self, page: Page, heading: str) -> str:
        """Run the blocks of a heading, at the ports of this deployment; what they print."""
        printed = ""
        for block in page.take(heading):
            for variable, port in PORTS.items():
                block = block.replace(f"localhost:{port}", f"localhost:{self.environment[variable]}")
            self.definitions += "".join(
                f"{line}\n" for line in block.splitlines() if line.startswith(("export ", "curl() "))
            )
            printed += self.run(block)
        return printed

    def containers(self, service: str) -> list[str]:
        """The ids of a service's containers."""
        return self.run(f"docker compose ps --quiet {service}").split()

    def url(self, variable: str, scheme: str = "http") -> str:
        """The URL at a published port."""
        return f"{scheme}://localhost:{self.environment[variable]}"

    def client(self) -> Client:
        """The Python client, through the proxy."""
        key = (self.folder / "secrets" / "api_key").read_text()
        return connect(self.url("PROXY_PORT", "https"), api_key=key)

    def end(self, container: str) -> None:
        """End the processes of a container by SIGKILL, as if they had crashed; its restart policy starts it again."""
        found: dict[str, int] = json.loads(self.run(f"docker inspect --format '{{{{json .State}}}}' {container}"))
        kill = f"docker run --rm --pid host --user 0 --entrypoint sh {IMAGE} -c"
        self.run(f"{kill} 'kill -9 {found['Pid']}'")

    def is_healthy(self, container: str) -> bool:
        """Return whether its last health check succeeded, since its last start."""
        state = self.run(f"docker inspect --format '{{{{.State.Status}}}} {{{{.State.Health.Status}}}}' {container}")
        return state.split() == ["running", "healthy"]

    def restarts(self, container: str) -> int:
        """The number of starts by its restart policy."""
        return int(self.run(f"docker inspect --format '{{{{.RestartCount}}}}' {container}"))


def until(holds: Callable[[], bool], what: str) -> float:
    """The seconds until something holds; RuntimeError where it does not."""
    began = time.monotonic()
    while not holds():
        if time.monotonic() > began + TIMEOUT:
            raise RuntimeError(f"{what}: not within {TIMEOUT:g} s")
        time.sleep(0.2)
    return time.monotonic() - began


@contextmanager
def deployed() -> Iterator[Deployment]:
    """A copy of what git has of this checkout or would add, and at the end nothing of it."""
    with TemporaryDirectory(prefix="relevance-operator-", dir="/tmp") as name:
        folder = Path(name)
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        paths = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
        for path in filter(None, paths.split("\0")):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / path, folder / path)
        deployment = Deployment(folder, _environment())
        os.environ["SSL_CERT_FILE"] = str(folder / "secrets" / "tls.crt")
        try:
            yield deployment
        except BaseException:
            words = deployment.run("docker compose ps --all; docker compose logs --no-color 2>&1")
            LOG.write_text(words)
            print(f"What the containers wrote is in {LOG}.")
            raise
        finally:
            deployment.run("docker compose --profile observability down --volumes --timeout 1 2>&1")


def _environment() -> dict[str, str]:
    ports = {}
    for variable in PORTS:
        with socket.create_server(("127.0.0.1", 0)) as free:
            ports[variable] = str(free.getsockname()[1])
    files = ("docker-compose.yml", "tests/deploy/operator/compose.yml")
    return {
        **ports,
        "COMPOSE_PROJECT_NAME": "relevance-operator",
        "COMPOSE_FILE": ":".join(files),
        "PATH": f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}",
    }
