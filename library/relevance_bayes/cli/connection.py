"""The connection of a client command: address, key and project from the environment, errors in plain text."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from relevance_bayes.cli.console import refuse
from relevance_bayes.cli.remedies import in_options
from relevance_bayes.client import CONNECTION_LOST, NOT_REACHABLE, ClientError, Problem, Relevance, connect

PROJECT: ContextVar[str | None] = ContextVar("project", default=None)
"""The project of the command that runs, by its option or the environment; None for that of the API key."""

NO_SERVICE = "Start a service with: relevance serve (another address: --url or RELEVANCE_URL)"
HINTS = {
    NOT_REACHABLE: NO_SERVICE,
    CONNECTION_LOST: NO_SERVICE,
    "/problems/unauthenticated": "RELEVANCE_API_KEY holds the key, or RELEVANCE_API_KEY_FILE names its file.",
}
"""Hints by the type of the problem."""


@contextmanager
def service(url: str) -> Iterator[Relevance]:
    """Return a client of the service at `url`; errors are printed on standard error, with the exit status 1."""
    try:
        with connect(url, api_key=_api_key(), project=PROJECT.get()) as client:
            yield client
    except ClientError as refused:
        refuse(in_plain_text(refused.problem))


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
