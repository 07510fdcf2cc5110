"""A service with the responses of a test, on a port of its own; and the command, run in this process."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from examples.demo.service import running_service
from tests.commands import Run, runner
from tests.terminals import Dialogue, on_a_terminal

Responses = dict[str, tuple[int, object]]
"""Status and document (a text as it is, all else as JSON) by method and path."""

Stub = Callable[[Responses], str]


@pytest.fixture
def stub() -> Iterator[Stub]:
    """Starts a service with these answers; its URL."""
    servers: list[ThreadingHTTPServer] = []

    def start(responses: Responses) -> str:
        class Handler(BaseHTTPRequestHandler):
            def response(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status, document = responses[f"{self.command} {self.path.partition('?')[0]}"]
                body = (document if isinstance(document, str) else json.dumps(document)).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = response  # noqa: N815 - the names that the standard library looks for

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_address[1]}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, logging_as_it_was: None) -> Run:
    return runner(monkeypatch)


@pytest.fixture(scope="session")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real service, with a worker inside, in which each test has models of its own."""
    directory = tmp_path_factory.mktemp("service")
    with running_service(directory / "relevance.db", log=directory / "service.log") as address:
        yield address


@pytest.fixture
def requested(run: Run, url: str, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command, with that service."""
    monkeypatch.setenv("RELEVANCE_URL", url)
    return run


@pytest.fixture
def dialogue(url: str) -> Dialogue:
    """The command on a terminal, with that service."""
    return on_a_terminal(url)
