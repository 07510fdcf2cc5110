"""Which peers there are, and how each is started: as fast as its settings make one worker of it."""

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.files import NotRun
from benchmarks.serving.forms import MOMENTS, NAME, NESTED, Form
from benchmarks.serving.processes import PORT, ROOT, Server, ready_server

ENVIRONMENTS = ROOT / ".venv-peers"
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Peer:
    """A server that others wrote: its command, what that finds in the environment, the form of its JSON requests."""

    package: str
    title: str
    command: tuple[str, ...]
    settings: Mapping[str, str]
    form: Form = MOMENTS
    speaks_bytes: bool = False

    def name(self) -> str:
        """With the version that its lock pins."""
        lock = (HERE / f"requirements-{self.package}.lock").read_text("utf-8")
        pinned = re.search(rf"^{self.package}==(\S+)", lock, flags=re.M)
        assert pinned is not None
        return f"{self.title} {pinned[1]}"

    def program(self) -> Path:
        """The versions that its environment has installed; raises NotRun."""
        program = ENVIRONMENTS / self.package / "bin" / self.command[0]
        if not (ENVIRONMENTS / self.package / ".installed").exists():
            raise NotRun(f"{self.name()} is not installed: `make peers`")
        return program


PEERS = (
    Peer(
        "mlserver",
        "MLServer",
        ("mlserver", "start", "."),
        {
            "MLSERVER_DEBUG": "false",
            "MLSERVER_GRPC_PORT": "0",
            "MLSERVER_GZIP_ENABLED": "false",
            "MLSERVER_HOST": "127.0.0.1",
            "MLSERVER_HTTP_PORT": PORT,
            "MLSERVER_METRICS_ENDPOINT": "",
            "MLSERVER_MODEL_IMPLEMENTATION": "benchmarks.serving.peers.with_mlserver.Moments",
            "MLSERVER_MODEL_NAME": NAME,
            "MLSERVER_PARALLEL_WORKERS": "0",
        },
    ),
    Peer(
        "kserve",
        "KServe",
        (
            *("python", "-m", "benchmarks.serving.peers.with_kserve", "--http_port", PORT),
            *("--enable_grpc", "false", "--enable_latency_logging", "false", "--configure_logging", "false"),
        ),
        {},
        speaks_bytes=True,
    ),
    Peer(
        "bentoml",
        "BentoML",
        ("bentoml", "serve", "benchmarks.serving.peers.with_bentoml:Moments", "--host", "127.0.0.1", "--port", PORT),
        {"BENTOML_DO_NOT_TRACK": "true", "BENTOML_HOME": "."},
        form=NESTED,
    ),
)


@contextmanager
def running(model: Mapping[str, str], folder: Path) -> Iterator[tuple[Mapping[Server, Peer], tuple[str, ...]]]:
    """Those that are installed, each in a folder of its own, and why the others are not there."""
    servers: dict[Server, Peer] = {}
    absent = []
    with ExitStack() as stack:
        for peer in PEERS:
            try:
                command = (str(peer.program()), *peer.command[1:])
            except NotRun as reason:
                absent.append(f"NOT RUN: {reason}.")
                continue
            own = folder / peer.package
            own.mkdir()
            started = ready_server(peer.name(), command, {**model, **peer.settings}, own, peer.form)
            servers[stack.enter_context(started)] = peer
        yield servers, tuple(absent)
