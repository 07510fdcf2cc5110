"""Applications as processes of one worker each, and their figures by the kernel."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import SecretStr

from app.identity import BUILT_IN_OWNER
from app.maintenance.administration import migrate
from app.services import build
from benchmarks.jobs.deployment import Deployment
from benchmarks.serving.forms import NAME, ROWS, Form
from benchmarks.serving.load import KEY, Request, once
from benchmarks.serving.model import INPUTS, plain_model, points
from benchmarks.serving.plain import MODEL
from relevance_bayes.client import connect
from relevance_bayes.client.responses import Json
from relevance_bayes.core.types import Array

ROOT = Path(__file__).parents[2]
VECTORS = 20
BEGINS_WITHIN = 60.0
PORT = "{port}"
"""Stands for a free port in commands and in what they find in their environment."""


@dataclass(frozen=True)
class Server:
    """A server at a URL: a process and those that it has started."""

    name: str
    url: str
    pid: int

    def request(self, X: Array, form: Form = ROWS, *, key: str = KEY) -> Request:
        """A request for predictions at X (N, d)."""
        return Request.of(self.url, form.path, *form.encode(X), key=key)

    def cpu(self) -> float:
        """Seconds of CPU that all threads have had, to the nanosecond."""
        tasks = [task for pid in processes(self.pid) for task in Path(f"/proc/{pid}/task").iterdir()]
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    def megabytes(self) -> float:
        """Memory that they hold, what two of them share twice."""
        pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in processes(self.pid))
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def processes(pid: int) -> list[int]:
    """A process, those that it has started, and theirs."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended since
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            parents.setdefault(parent, []).append(int(stat.parent.name))
    found = [pid]
    for one in found:
        found += parents.get(one, [])
    return found


def train(deployment: Deployment, *, vectors: int = VECTORS) -> None:
    """Have a worker learn a model NAME of so many vectors under a process."""
    X = points(500)
    t = 10.0 * X[:, 0] * X[:, 1] + 20.0 * (X[:, 2] - 0.5) ** 2 + 10.0 * X[:, 3]
    deployment.worker()
    with connect(deployment.api()) as calls:
        columns = {name: column.tolist() for name, column in zip(INPUTS, X.T, strict=True)} | {"y": t.tolist()}
        kernel: Json = {"type": "kernel", "kernel": {"type": "gaussian"}, "width": {"type": "fixed", "value": 2.0}}
        request: dict[str, Json] = {
            "dataset_id": calls.create_dataset(columns, name=NAME).id,
            "target": "y",
            "model": NAME,
            "prior": {
                "type": "gaussian_process",
                "inducing_points": "rows",
                "max_functions": vectors,
                "min_gain": 1e-9,
            },
            "basis": [kernel, {"type": "bias"}],
            "likelihood": {"type": "gaussian", "noise_sd": 0.5},
            "holdout": 0.0,
        }
        job = calls.trainings.wait(calls.trainings.submit(request).id)
        if job.state != "succeeded":
            raise RuntimeError(f"the job ended as {job.state}: {job.error}")
    deployment.stop()


def ours(deployment: Deployment, name: str, *, log: bool, **settings: float | str) -> Server:
    """`relevance api` on a database with a key, of all scopes."""
    migrate(deployment.settings.model_copy(update={"initial_api_key": SecretStr(KEY)}))
    url = deployment.api(log_requests="1" if log else "0", **settings)
    return Server(name, url, deployment.processes[-1].pid)


def write_model(deployment: Deployment) -> Mapping[str, str]:
    """The model's arrays go to a file; what the environment of all that read it has."""
    parts = build(deployment.settings)
    file = deployment.folder / "model.npz"
    plain_model(parts.prediction.version(BUILT_IN_OWNER, NAME)).write(file)
    parts.close()
    return {MODEL: str(file)}


@contextmanager
def bare(model: Mapping[str, str], folder: Path) -> Iterator[Server]:
    """The bare application on the server that ours is on."""
    server = ("benchmarks.serving.bare:make_application", "--factory", "--no-access-log", "--log-level", "warning")
    command = (sys.executable, "-m", "uvicorn", *server, "--http", "httptools", "--loop", "uvloop", "--port", PORT)
    with ready_server("bare", command, model, folder, ROWS) as found:
        yield found


@contextmanager
def ready_server(
    name: str, command: Sequence[str], environment: Mapping[str, str], folder: Path, form: Form
) -> Iterator[Server]:
    """A server that is killed in the end, once it answers in a form; its output is in a folder."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    theirs = {variable: value.replace(PORT, port) for variable, value in environment.items()}
    output = folder / f"{name}.log"
    with (
        output.open("w") as log,
        subprocess.Popen(
            [argument.replace(PORT, port) for argument in command],
            env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'library'}"} | theirs,
            cwd=folder,
            stdout=log,
            stderr=log,
        ) as process,
    ):
        server = Server(name, f"http://127.0.0.1:{port}", process.pid)
        try:
            if not _is_ready(server, form, process):
                raise RuntimeError(f"{name} does not answer: {output.read_text()[-2_000:]}")
            yield server
        finally:
            for pid in processes(process.pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def agree(forms: Mapping[Server, Form]) -> None:
    """Raise RuntimeError unless all of them respond with the same, each in its form, to the ninth digit."""
    X = points(100)
    found = {server: form.numbers(once(server.request(X, form)), len(X)) for server, form in forms.items()}
    first, *others = found
    for other in others:
        if found[first].shape != found[other].shape or not np.allclose(
            found[first], found[other], rtol=1e-9, atol=1e-9
        ):
            raise RuntimeError(f"expected {other.name} to respond in {forms[other].name} as {first.name} does")


def _is_ready(server: Server, form: Form, process: subprocess.Popen[bytes]) -> bool:
    until = time.monotonic() + BEGINS_WITHIN
    while time.monotonic() < until and process.poll() is None:
        with suppress(OSError, EOFError, RuntimeError):
            once(server.request(points(1), form))
            return True
        time.sleep(0.1)
    return False
