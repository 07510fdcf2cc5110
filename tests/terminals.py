"""Commands on a pseudo-terminal, in a process of their own."""

import os
import pty
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Protocol


class Output(NamedTuple):
    exit_code: int
    stdout: str
    terminal: str


class Dialogue(Protocol):
    """Runs `relevance` with these arguments, on a terminal where these lines are `typed`."""

    def __call__(self, *arguments: str, typed: str = "") -> Output: ...


def on_a_terminal(url: str) -> Dialogue:
    """Return the command with a pseudo-terminal as standard input and standard error, for the service at `url`."""

    def run(*arguments: str, typed: str = "") -> Output:
        controller, terminal = pty.openpty()
        environment = {**os.environ, "RELEVANCE_URL": url}
        with subprocess.Popen(
            [sys.executable, "-m", "app.cli", *arguments],
            stdin=terminal,
            stdout=subprocess.PIPE,
            stderr=terminal,
            env=environment,
            start_new_session=True,
        ) as process:
            os.close(terminal)
            os.write(controller, typed.encode())
            with ThreadPoolExecutor(1) as reader:
                shown_later = reader.submit(_all_of, controller)
                try:
                    stdout, _ = process.communicate(timeout=120)
                finally:
                    process.kill()
                shown = shown_later.result(10)
        os.close(controller)
        return Output(process.returncode, stdout.decode(), shown.replace("\r\n", "\n"))

    return run


def _all_of(controller: int) -> str:
    """Return all that a pseudo-terminal shows until its other end is closed."""
    parts: list[bytes] = []
    while True:
        try:
            part = os.read(controller, 65_536)
        except OSError:  # so that Linux reports the other end
            part = b""
        if not part:
            return b"".join(parts).decode()
        parts.append(part)
