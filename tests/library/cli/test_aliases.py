import json

import pytest

from tests.commands import Run
from tests.library.cli.conftest import Responses, Stub

NOW = "2026-01-02T03:04:05Z"
ALIAS = {
    "model": "small",
    "alias": "champion",
    "version": 3,
    "moved_at": NOW,
    "moved_by": "local",
    "reason": "Less error.",
}
ONE = "/v1/models/small/aliases/champion"


def page(*items: object) -> tuple[int, object]:
    return 200, {"items": items, "has_more": False, "after": None}


@pytest.fixture
def responses() -> Responses:
    moves = [
        {"number": 2, "at": NOW, "by": "local", "from_version": 2, "to_version": 3, "reason": "Less error."},
        {"number": 1, "at": NOW, "by": "ada", "from_version": None, "to_version": 2, "reason": None},
    ]
    return {
        f"PUT {ONE}": (200, ALIAS),
        f"DELETE {ONE}": (204, ""),
        "GET /v1/models/small/aliases": page(ALIAS),
        f"GET {ONE}/history": page(*moves),
    }


def test_an_alias_is_pointed_to_a_version(run: Run, stub: Stub, responses: Responses) -> None:
    done = run("aliases", "set", "small", "champion", "3", "--reason", "Less error.", "--url", stub(responses))
    assert (done.exit_code, done.stdout) == (0, "small@champion is version 3.\n"), done.stderr


def test_aliases_are_listed_with_why(run: Run, stub: Stub, responses: Responses) -> None:
    url = stub(responses)
    shown = run("aliases", "list", "small", "--url", url).stdout
    assert all(text in shown for text in ("champion", "3", "local", "Less error."))
    assert json.loads(run("aliases", "list", "small", "--json", "--url", url).stdout)[0]["version"] == 3


def test_a_history_reports_from_where_to_where(run: Run, stub: Stub, responses: Responses) -> None:
    lines = run("aliases", "history", "small", "champion", "--url", stub(responses)).stdout.splitlines()
    assert [line.split()[2:5] for line in lines[1:]] == [["local", "2", "3"], ["ada", "-", "2"]]


def test_an_alias_is_removed(run: Run, stub: Stub, responses: Responses) -> None:
    done = run("aliases", "remove", "small", "champion", "--url", stub(responses))
    assert done.stdout == "small@champion is removed.\n"


def test_a_model_is_shown_by_its_alias_or_not_at_all(run: Run, stub: Stub) -> None:
    problem = {"type": "/problems/not-found", "title": "No", "status": 404, "detail": "Model 'small' has no alias 'x'."}
    url = stub({"GET /v1/models/small/versions/x": (404, problem)})
    for arguments in (
        ("models", "small@x"),
        ("models", "small", "--version", "x"),
        ("models", "small@x", "--relevance-vectors"),
    ):
        done = run(*arguments, "--url", url)
        assert (done.exit_code, done.stderr) == (1, "Model 'small' has no alias 'x'.\n")
    done = run("models", "small@x", "--version", "2", "--url", url)
    assert (done.exit_code, done.stderr) == (1, "Expected one version, got small@x and 2.\n")
