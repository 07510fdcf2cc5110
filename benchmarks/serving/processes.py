"""The two applications as processes of one worker each, and what the kernel says of them."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.bootstrap import build
from app.client import connect
from app.client.answers import Json
from app.domain.identity import BUILT_IN_OWNER
from app.sparse_bayes.types import Array
from benchmarks.jobs.deployment import Deployment
from benchmarks.serving.bare import MODEL
from benchmarks.serving.forms import FORMS, NAME, ROWS, Form
from benchmarks.serving.load import KEY, Asked, once
from benchmarks.serving.model import INPUTS, PlainModel, points

VECTORS = 20
BEGINS_WITHIN = 30.0


@dataclass(frozen=True)
class Server:
    """A process that answers all forms at a URL."""

    name: str
    url: str
    pid: int

    def asked(self, X: Array, form: Form = ROWS) -> Asked:
        """A request for predictions at X (N, d)."""
        return Asked.of(self.url, form.path, *form.ask(X))

    def cpu(self) -> float:
        """Seconds of CPU that all its threads have had, to the nanosecond."""
        tasks = Path(f"/proc/{self.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    def megabytes(self) -> float:
        """Memory that it holds."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


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
            "prior": {"type": "gaussian_process", "vectors": "rows", "most": vectors, "least_gain": 1e-9},
            "basis": [kernel, {"type": "bias"}],
            "likelihood": {"type": "gaussian", "noise_sd": 0.5},
            "holdout": 0.0,
        }
        job = calls.trainings.finished(calls.trainings.submit(request).id)
        if job.state != "succeeded":
            raise RuntimeError(f"the job ended as {job.state}: {job.error}")
    deployment.stop()


def ours(deployment: Deployment, name: str, *, log: bool) -> Server:
    """`relevance api` with a key."""
    url = deployment.api(api_key=KEY, log_requests="1" if log else "0")
    return Server(name, url, deployment.processes[-1].pid)


@contextmanager
def bare(deployment: Deployment) -> Iterator[Server]:
    """The bare application with the same model, on the same server."""
    parts = build(deployment.settings)
    file = deployment.folder / "model.npz"
    PlainModel.of(parts.prediction.version(BUILT_IN_OWNER, NAME)).write(file)
    parts.close()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = ("benchmarks.serving.bare:make_application", "--factory", "--no-access-log", "--log-level", "warning")
    with subprocess.Popen(
        [sys.executable, "-m", "uvicorn", *server, "--http", "httptools", "--loop", "uvloop", "--port", str(port)],
        env=os.environ | {MODEL: str(file)},
    ) as process:
        try:
            found = Server("bare", f"http://127.0.0.1:{port}", process.pid)
            _wait_for(port)
            yield found
        finally:
            process.kill()


def agree(servers: list[Server]) -> None:
    """Raise RuntimeError unless all of them say the same in every form, to the ninth digit."""
    X = points(100)
    for form in FORMS:
        first, *others = (form.numbers(once(server.asked(X, form)), len(X)) for server in servers)
        for other in others:
            if first.shape != other.shape or not np.allclose(first, other, rtol=1e-9, atol=1e-9):
                raise RuntimeError(f"expected the same answers as {form.name}")


def _wait_for(port: int) -> None:
    until = time.monotonic() + BEGINS_WITHIN
    while time.monotonic() < until:
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError("the bare application did not start")
