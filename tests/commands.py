"""Commands, run in this process."""

from typing import Protocol

import pytest
from typer.testing import CliRunner, Result

from app.cli.commands import application


class Run(Protocol):
    """Runs `relevance` with these arguments."""

    def __call__(self, *arguments: str) -> Result: ...


def runner(monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command, without a key from outside."""
    monkeypatch.delenv("RELEVANCE_API_KEY", raising=False)
    monkeypatch.delenv("RELEVANCE_API_KEY_FILE", raising=False)
    monkeypatch.delenv("RELEVANCE_PROJECT", raising=False)

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(application, arguments)

    return invoke
