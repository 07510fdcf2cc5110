"""API processes of this checkout and of another, each with a model that its own worker has learned."""

import math
import os
import random
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

HERE = Path(__file__).parents[2]
DESCRIPTORS = 1_024
BEGINS_WITHIN = 60.0
MODEL = "m"


@dataclass(frozen=True)
class Running:
    """An API process and the port that it listens on."""

    port: int
    pid: int

    def cpu(self) -> float:
        """Seconds of CPU time of the process so far, to the nanosecond; threads that have ended are counted too.

        The number of a process's clock as Linux makes it (clock_getcpuclockid).
        """
        return time.clock_gettime((~self.pid << 3) | 2)

    def megabytes(self, member: str = "VmRSS") -> float:
        """Memory that the process holds, or its peak (`VmHWM`)."""
        found = re.search(rf"{member}:\s+(\d+)", Path(f"/proc/{self.pid}/status").read_text())
        assert found is not None
        return int(found[1]) / 1024


@dataclass(frozen=True)
class Checkout:
    """A checkout with its environment, and a folder with a database of one model, called `MODEL`."""

    root: Path
    folder: Path

    @contextmanager
    def running(self, command: str = "api", *, log: bool = False) -> Iterator[Running]:
        """A process with `DESCRIPTORS` file descriptors, killed in the end."""
        program = [str(self.root / ".venv/bin/python"), "-m", "app.cli", command, "--until-eof"]
        limited = ["sh", "-c", f'ulimit -n {DESCRIPTORS} && exec "$@"', "sh", *program]
        with (
            (self.folder / "log").open("a") as errors,
            subprocess.Popen(
                limited,
                cwd=self.root,
                env=self._environment(log),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            ) as process,
        ):
            try:
                assert process.stdout is not None
                for line in process.stdout:
                    if found := re.search(r"is at http://127.0.0.1:(\d+)", line):
                        yield Running(int(found[1]), process.pid)
                        return
                raise RuntimeError((self.folder / "log").read_text()[-2_000:])
            finally:
                process.terminate() if command == "serve" else process.kill()

    def _environment(self, log: bool) -> dict[str, str]:
        others = {name: value for name, value in os.environ.items() if not name.startswith("RELEVANCE_")}
        return others | {
            "RELEVANCE_DATABASE_URL": f"sqlite:///{self.folder / 'relevance.db'}",
            "RELEVANCE_PORT": "0",
            "RELEVANCE_LOG_REQUESTS": "1" if log else "0",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }

    def train(self) -> None:
        """Have its own worker learn the model of 150 rows of three inputs."""
        draw = random.Random(1)
        rows = [(draw.gauss(0, 1), draw.gauss(0, 1), draw.gauss(0, 1)) for _ in range(150)]
        lines = [f"{a},{b},{c},{math.sin(2 * a) + 0.3 * b + draw.gauss(0, 0.1)}" for a, b, c in rows]
        content = "\n".join(["a,b,c,y", *lines])
        with self.running("serve") as server, httpx.Client(base_url=f"http://127.0.0.1:{server.port}") as http:
            uploaded = http.post("/v1/datasets", content=content, headers={"Content-Type": "text/csv"})
            request = {"dataset_id": uploaded.raise_for_status().json()["id"], "target": "y", "model": MODEL}
            submitted = http.post("/v1/training-jobs", json=request).raise_for_status().json()
            until = time.monotonic() + 3 * BEGINS_WITHIN
            state = "queued"
            while state in {"queued", "running"} and time.monotonic() < until:
                time.sleep(0.2)
                state = http.get(f"/v1/training-jobs/{submitted['id']}").json()["state"]
            if state != "succeeded":
                raise RuntimeError(f"the training ended as {state}")


@contextmanager
def checkouts(against: Path | None) -> Iterator[Sequence[Checkout]]:
    """The other one, where there is one, and this one, with their models."""
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for number, root in enumerate([*([] if against is None else [against.resolve()]), HERE]):
            place = Path(folder) / str(number)
            place.mkdir()
            found.append(Checkout(root, place))
            found[-1].train()
        yield found
