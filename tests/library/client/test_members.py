import json

import httpx
import pytest

from relevance_bayes.client import Client
from relevance_bayes.client.http import Http
from tests.library.client.conftest import Connected, Service

MEMBER = {"subject": "auth0|ada", "role": "editor", "created_at": "2026-01-02T03:04:05Z"}
ONE = "/v1/members/auth0%7Cada"


def page(*items: object) -> httpx.Response:
    return httpx.Response(200, json={"items": items, "has_more": False, "after": None})


def test_members_are_put_listed_and_removed(connected: Connected) -> None:
    pair = connected(
        {
            f"PUT {ONE}": lambda _: httpx.Response(201, json=MEMBER),
            f"GET {ONE}": lambda _: httpx.Response(200, json=MEMBER),
            f"DELETE {ONE}": lambda _: httpx.Response(200, json={"subject": "auth0|ada", "keys": []}),
            "GET /v1/members": lambda _: page(MEMBER),
        }
    )
    calls = pair.client.members
    assert calls.put("auth0|ada", "editor") == calls.get("auth0|ada") == next(calls.all())
    assert calls.delete("auth0|ada").keys == ()
    assert [json.loads(one.content) for one in pair.service.requested if one.content] == [{"role": "editor"}]
    assert [one.method for one in pair.service.requested] == ["PUT", "GET", "GET", "DELETE"]


def test_projects_are_listed(connected: Connected) -> None:
    shared = {"name": "acme", "role": "viewer", "scopes": ["predict", "read"]}
    pair = connected({"GET /v1/projects": lambda _: page(shared)})
    (project,) = pair.client.projects()
    assert (project.name, project.role, project.scopes) == ("acme", "viewer", ("predict", "read"))


def test_invitations_are_listed_accepted_and_declined(connected: Connected) -> None:
    shared = {"name": "a/b", "role": "viewer", "scopes": ["read"], "state": "invited"}
    pair = connected(
        {
            "GET /v1/projects": lambda _: page(shared),
            "PUT /v1/projects/a%2Fb": lambda _: httpx.Response(200, json=shared | {"state": "member"}),
            "DELETE /v1/projects/a%2Fb": lambda _: httpx.Response(204),
        }
    )
    (invitation,) = pair.client.members.invitations()
    assert (invitation.state, pair.client.members.accept(invitation.name).state) == ("invited", "member")
    pair.client.members.leave(invitation.name)
    assert [str(one.url.params.get("state")) for one in pair.service.requested] == ["invited", "None", "None"]


@pytest.mark.parametrize(
    ("project", "sent"),
    [
        ("acme", "acme"),
        ("auth0|ada", "auth0%7Cada"),
        ("élan, 50%/a", "%C3%A9lan%2C%2050%25%2Fa"),
        ("", None),
        (None, None),
    ],
)
def test_every_request_names_the_project_of_the_client(project: str | None, sent: str | None) -> None:
    service = Service({"GET /v1/models": lambda _: page(), "DELETE /v1/models/m": lambda _: httpx.Response(204)})
    http = Http.to("http://service", api_key=None, project=project, transport=httpx.MockTransport(service))
    with Client(http) as client:
        assert list(client.models()) == []
        client.delete_model("m")
    assert [one.headers.get("Relevance-Project") for one in service.requested] == [sent, sent]
