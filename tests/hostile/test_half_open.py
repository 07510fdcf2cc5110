"""A real API process under more half-open connections than it may have file descriptors."""

import resource
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.end_to_end.deployment import deployed

HALF_OPEN = 2_000
DESCRIPTORS = 1_024


@pytest.fixture
def descriptors_of_our_own() -> None:
    """Enough of them for both ends of a client's connections; skipping would hide that nothing was tested."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert hard == resource.RLIM_INFINITY or hard > HALF_OPEN + 200
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


@pytest.mark.usefixtures("descriptors_of_our_own")
def test_everyone_else_gets_a_response(tmp_path: Path) -> None:
    with deployed(f"sqlite:///{tmp_path / 'relevance.db'}", tmp_path) as deployment, ExitStack() as stack:
        api = deployment.api(DESCRIPTORS)
        port = api.http.base_url.port
        assert port is not None
        for number in range(HALF_OPEN):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
            client.sendall(b"POST /v1/models HTTP/1.1\r\nHost: h\r\nX-Slow: ")
            if number % 20 == 0 or number > HALF_OPEN - 50:
                assert api.http.get("/health/live").status_code == 200
                with socket.create_connection(("127.0.0.1", port), timeout=30) as other:  # and on a new connection
                    other.sendall(b"GET /health/live HTTP/1.1\r\nHost: h\r\n\r\n")
                    assert other.recv(4096).startswith(b"HTTP/1.1 200")
        assert len(list(Path(f"/proc/{api.process.pid}/fd").iterdir())) < DESCRIPTORS
