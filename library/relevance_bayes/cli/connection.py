"""The connection of a client command: address, key and project from the environment, errors in plain text."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from urllib.parse import urlsplit

from relevance_bayes.cli.console import refuse, warn
from relevance_bayes.cli.remedies import in_options
from relevance_bayes.client import CONNECTION_LOST, NOT_REACHABLE, Client, ClientError, Problem, connect
from relevance_bayes.client.embedded import is_installed
from relevance_bayes.client.http import DEFAULT_URL

PROJECT: ContextVar[str | None] = ContextVar("project", default=None)
"""The project of the command that runs, by its option or the environment; None for that of the API key."""

NO_SERVICE = "Start a service with: relevance serve (another address: --url or RELEVANCE_URL)"
HINTS = {
    NOT_REACHABLE: NO_SERVICE,
    CONNECTION_LOST: NO_SERVICE,
    "/problems/unauthenticated": "RELEVANCE_API_KEY holds the key, or RELEVANCE_API_KEY_FILE names its file.",
}
"""Hints by the type of the problem."""


DATABASE = Path("relevance.db")
"""The database file of `relevance serve` by default."""

CONNECT_SECONDS = 1.0


@contextmanager
def service(url: str, *, creates: bool = False) -> Iterator[Client]:
    """Return a client of the service at `url`; errors are printed on standard error, with the exit status 1.

    Where none responds at the default URL, one is started on the default database for this command. The database has to
    exist unless the command `creates` something.
    """
    try:
        with connect(_address(url, creates=creates), api_key=_api_key(), project=PROJECT.get()) as client:
            yield client
    except ClientError as refused:
        refuse(in_plain_text(refused.problem))


def _address(url: str, *, creates: bool) -> str | Path:
    """Return the URL, or the database file on which to start a service."""
    is_default = url == DEFAULT_URL and "RELEVANCE_DATABASE_URL" not in os.environ
    if not is_default or not (creates or DATABASE.exists()) or not is_installed() or _is_listening(url):
        return url
    warn(f"No service responds at {url}: one is started on {DATABASE} for this command.")
    return DATABASE


def _is_listening(url: str) -> bool:
    """Return whether a connection to the host and port of a URL is accepted."""
    parts = urlsplit(url)
    try:
        socket.create_connection((parts.hostname, parts.port), CONNECT_SECONDS).close()
    except OSError:
        return False
    return True


def in_plain_text(problem: Problem) -> str:
    """Return an error message: the error, the option that caused it, and the remedy."""
    hint, message = HINTS.get(problem.type), in_options(str(problem))
    return f"{message}\n{hint}" if hint else message


def _api_key() -> str | None:
    if key := os.environ.get("RELEVANCE_API_KEY"):
        return key
    if file := os.environ.get("RELEVANCE_API_KEY_FILE"):
        return Path(file).read_text().strip()
    return None
