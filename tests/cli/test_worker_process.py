"""Children here send a greeting on a socket of the test's, so that nothing needs to be waited for by the clock."""

import os
import signal
import socket
import sys
from collections.abc import Iterator

import pytest

from app.cli.worker_process import WorkerProcess

HELLO = """
import os, socket, sys
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
connection.sendall(f"{os.getpid()}\\n".encode())
"""
UNTIL_ITS_INPUT_ENDS = HELLO + "sys.stdin.read(); connection.sendall(b'bye')"
FOR_EVER = HELLO + "import signal; signal.pause()"


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(20)
        yield server


def command(code: str, listener: socket.socket) -> tuple[str, ...]:
    return (sys.executable, "-c", code, str(listener.getsockname()[1]))


def next_child(listener: socket.socket) -> tuple[int, socket.socket]:
    connection, _ = listener.accept()
    connection.settimeout(20)
    return int(connection.makefile().readline()), connection


def test_a_worker_that_dies_is_followed_by_another(listener: socket.socket, capfd: pytest.CaptureFixture[str]) -> None:
    with WorkerProcess(command(UNTIL_ITS_INPUT_ENDS, listener), first_pause=0.01) as running:
        first, connection = next_child(listener)
        connection.close()
        os.kill(first, signal.SIGKILL)
        second, connection = next_child(listener)
        assert second != first
        assert running.pid == second
    connection.close()
    printed = capfd.readouterr()
    assert "the worker exited and is restarted" in printed.out + printed.err
    assert "-9" in printed.out + printed.err


def test_a_worker_ends_by_itself_when_it_is_left(listener: socket.socket) -> None:
    with WorkerProcess(command(UNTIL_ITS_INPUT_ENDS, listener)):
        _, connection = next_child(listener)
    with connection:
        assert connection.recv(16) == b"bye"


def test_a_worker_that_does_not_end_is_killed(listener: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.cli.worker_process.GRACE_SECONDS", 0.1)
    with WorkerProcess(command(FOR_EVER, listener)):
        _, connection = next_child(listener)
    with connection:
        assert connection.recv(16) == b""
