"""Commands, run in this process."""

import os
from typing import Protocol

import pytest
from typer.testing import CliRunner, Result

from app.cli.commands import application


class Run(Protocol):
    """Runs `relevance` with these arguments."""

    def __call__(self, *arguments: str) -> Result: ...


def runner(monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command, without a key from outside; where no test gives another URL, it is one where nothing listens, and
    which is not the default, at which commands start a service."""
    if "RELEVANCE_URL" not in os.environ:
        monkeypatch.setenv("RELEVANCE_URL", "http://127.0.0.1:9")
    monkeypatch.delenv("RELEVANCE_API_KEY", raising=False)
    monkeypatch.delenv("RELEVANCE_API_KEY_FILE", raising=False)
    monkeypatch.delenv("RELEVANCE_PROJECT", raising=False)

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(application, arguments)

    return invoke
