"""`relevance delete`: what is deleted, and the prompt before it."""

import pytest
from typer.testing import CliRunner

from app.cli.commands import application
from tests.commands import Run
from tests.library.cli.conftest import Responses, Stub

NOW = "2026-01-02T03:04:05Z"
DATASET = {"id": "d1", "name": "rows", "rows": 1200, "created_at": NOW, "columns": [], "image": None, "digest": "0"}
MODEL = {
    "name": "small",
    "task": "regression",
    "target": "y",
    "inputs": ["x"],
    "versions": 3,
    "latest": 3,
    "aliases": {},
    "tags": {},
    "description": None,
    "created_at": NOW,
}


@pytest.fixture
def responses() -> Responses:
    return {
        "GET /v1/datasets/d1": (200, DATASET),
        "DELETE /v1/datasets/d1": (204, ""),
        "GET /v1/models/small": (200, MODEL),
        "DELETE /v1/models/small": (204, ""),
        "DELETE /v1/models/small/versions/2": (204, ""),
    }


@pytest.mark.parametrize(
    ("command", "done"),
    [
        (("dataset", "d1"), "Dataset d1 is deleted.\n"),
        (("model", "small"), "Model small is deleted.\n"),
        (("version", "small", "2"), "Version 2 of small is deleted.\n"),
    ],
)
def test_resources_are_deleted_with_yes(
    run: Run, stub: Stub, responses: Responses, command: tuple[str, ...], done: str
) -> None:
    found = run("delete", *command, "--yes", "--url", stub(responses))
    assert (found.exit_code, found.stdout) == (0, done), found.stderr


def test_without_a_terminal_nothing_is_deleted_without_yes(run: Run, stub: Stub, responses: Responses) -> None:
    refusing = {key: value for key, value in responses.items() if not key.startswith("DELETE")}
    found = run("delete", "model", "small", "--url", stub(refusing))
    assert found.exit_code == 1
    assert "pass --yes" in found.stderr


@pytest.mark.parametrize(("typed", "exit_code"), [("y\n", 0), ("n\n", 1), ("\n", 1)])
def test_a_terminal_has_a_prompt(
    stub: Stub, responses: Responses, monkeypatch: pytest.MonkeyPatch, typed: str, exit_code: int
) -> None:
    monkeypatch.setattr("relevance_bayes.cli.command_rows.has_terminal", lambda: True)
    arguments = ("delete", "model", "small", "--url", stub(responses))
    found = CliRunner().invoke(application, arguments, input=typed)
    assert found.exit_code == exit_code
    assert "Delete small with 3 versions? [y/N]" in found.stderr
    assert ("Nothing was deleted." in found.stderr) == (exit_code == 1)
