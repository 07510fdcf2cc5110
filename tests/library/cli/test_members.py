import json
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from relevance_bayes.cli.commands import COMMANDS, GROUPS
from tests.commands import Run
from tests.library.cli.conftest import Stub

MEMBER = {"subject": "vision", "role": "editor", "created_at": "2026-01-02T03:04:05Z"}
KEY = {
    "id": "018f0000-0000-7000-8000-000000000000",
    "name": "robot",
    "prefix": "rlv_abc",
    "scopes": ["read"],
    "created_at": "2026-01-02T03:04:05Z",
    "expires_at": None,
    "revoked_at": "2026-01-02T03:04:06Z",
}
NOTHING = {"items": [], "has_more": False, "after": None}


def page(*items: object) -> tuple[int, object]:
    return 200, {"items": items, "has_more": False, "after": None}


def test_a_member_is_set_listed_and_removed(run: Run, stub: Stub) -> None:
    one = "/v1/members/vision"
    url = stub(
        {
            f"PUT {one}": (201, MEMBER),
            f"DELETE {one}": (200, {"subject": "vision", "keys": [KEY]}),
            "GET /v1/members": page(MEMBER),
        }
    )
    assert "vision is a member with the role editor" in run("members", "set", "vision", "--url", url).stdout
    shown = run("members", "list", "--url", url).stdout
    assert "vision" in shown
    assert "editor" in shown
    assert json.loads(run("members", "list", "--json", "--url", url).stdout)[0]["role"] == "editor"
    removed = run("members", "remove", "vision", "--url", url).stdout
    assert "no member any more" in removed
    assert "'robot' (rlv_abc...) is revoked" in removed
    kept = run("members", "remove", "vision", "--keep-keys", "--url", url).stdout
    assert "'robot' (rlv_abc...) is valid" in kept


def test_an_invitation_is_sent_listed_accepted_and_declined(run: Run, stub: Stub) -> None:
    invited = {"name": "acme", "role": "viewer", "scopes": ["read"], "state": "invited"}
    url = stub(
        {
            "PUT /v1/members/vision": (201, MEMBER | {"state": "invited"}),
            "GET /v1/members": page(MEMBER | {"state": "invited"}),
            "GET /v1/projects": page(invited),
            "PUT /v1/projects/acme": (200, invited | {"state": "member"}),
            "DELETE /v1/projects/acme": (204, ""),
        }
    )
    assert "a member once it accepts" in run("members", "set", "vision", "--url", url).stdout
    assert "vision" in run("members", "list", "--invited", "--url", url).stdout
    assert "acme" in run("projects", "--invited", "--url", url).stdout
    assert "role viewer in the project acme" in run("members", "accept", "acme", "--url", url).stdout
    assert "no member of acme" in run("members", "leave", "acme", "--url", url).stdout


def test_projects_are_listed(run: Run, stub: Stub) -> None:
    url = stub({"GET /v1/projects": page({"name": "acme", "role": "viewer", "scopes": ["predict", "read"]})})
    shown = run("projects", "--url", url).stdout
    assert all(text in shown for text in ("acme", "viewer", "predict, read"))


@pytest.fixture
def projects() -> Iterator[tuple[str, list[str | None]]]:
    """The URL of a service without anything, and the projects that requests name."""
    named: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            named.append(self.headers["Relevance-Project"])
            body = json.dumps(NOTHING).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}).start()
    yield f"http://127.0.0.1:{server.server_address[1]}", named
    server.shutdown()
    server.server_close()


def test_a_command_acts_in_the_project_of_its_option_or_of_the_environment(
    run: Run, projects: tuple[str, list[str | None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, named = projects
    monkeypatch.delenv("RELEVANCE_PROJECT", raising=False)
    by_option: Sequence[Sequence[str]] = (
        ("models", "--project", "acme"),
        ("models",),
        ("webhooks", "list", "--project", "a b"),
    )
    for arguments in by_option:
        assert run(*arguments, "--url", url).exit_code == 0
    monkeypatch.setenv("RELEVANCE_PROJECT", "labs")
    by_environment: Sequence[Sequence[str]] = (("models",), ("models", "--project", "acme"), ("members", "list"))
    for arguments in by_environment:
        assert run(*arguments, "--url", url).exit_code == 0
    monkeypatch.setenv("RELEVANCE_PROJECT", "")
    assert run("models", "--url", url).exit_code == 0
    assert named == ["acme", None, "a%20b", "labs", "acme", "labs", None]


def test_every_client_command_has_the_option(run: Run) -> None:
    commands = [(name,) for name in COMMANDS] + [(group, name) for group, some in GROUPS.items() for name in some]
    assert len(commands) > 30
    for command in commands:
        assert "--project" in run(*command, "--help").stdout, command
