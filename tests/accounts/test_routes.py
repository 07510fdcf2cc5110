"""The routes of API keys, of members and of projects."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from itertools import product
from uuid import UUID

import pytest
from httpx2 import Response
from starlette.testclient import TestClient

from app.accounts.authenticator import KeyAuthenticator
from app.accounts.records import ROLE_SCOPES
from app.accounts.tokens import Issuer, IssuerKeys, TokenAuthenticator, TokenRules
from app.http.openapi import Json
from app.http.paths import is_protected
from app.main import create_app, make_application
from app.settings import Settings
from relevance_bayes.records.accounts import KEY_SCOPES, KeyScope
from relevance_bayes.records.members import ROLES, Role
from tests.applications import LIMITS, NOW, Minutes, Operation, SmallParts
from tests.issuers import AUDIENCE, TokenIssuer, refused_tokens, serving
from tests.keys import share
from tests.problems import assert_problem

OWN_PAGE = {"Sec-Fetch-Site": "same-origin"}
ROWS = {"rows": [{"x": 0.5, "colour": "red"}]}


def key(
    parts: SmallParts, *scopes: KeyScope, owner: str = "local", expires_at: datetime | None = None
) -> dict[str, str]:
    _, secret = parts.keys.create(owner, "of a test", scopes=scopes, expires_at=expires_at)
    return {"Authorization": f"Bearer {secret}"}


@cache
def cookie_of(response: Response) -> dict[str, str]:
    """The cookie that a response sets, as a browser sends it."""
    assert response.status_code == 201, response.text
    return {"Cookie": response.headers["Set-Cookie"].partition(";")[0]}


def session(client: TestClient, authorization: dict[str, str]) -> dict[str, str]:
    """The cookie of a session that is exchanged for a key or token."""
    response = client.post("/v1/session", headers=authorization)
    client.cookies.clear()
    return cookie_of(response)


def operations() -> Sequence[Operation]:
    """All operations whose resources have an owner."""
    documented = create_app(Settings(database_url="sqlite:///nowhere.db")).openapi()
    found = []
    for path, methods in documented["paths"].items():
        if is_protected(path):
            for method, operation in methods.items():
                scopes = frozenset(scope for one in operation["security"] for names in one.values() for scope in names)
                found.append((method.upper(), re.sub(r"{\w+}", "1", path), scopes))
    return found


def test_each_operation_needs_a_key_that_is_valid_and_has_one_of_its_scopes(
    parts: SmallParts, locked: TestClient, minutes: Minutes
) -> None:
    walked = operations()
    assert len(walked) > 70
    expired = key(parts, "admin", expires_at=NOW + timedelta(days=1))
    revoked, secret = parts.keys.create("local", "of a test", scopes=("admin",))
    parts.keys.revoke("local", UUID(revoked.id))
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Bearer {secret}"}, expired):
        for method, path, _ in minutes.walk(walked):
            response = locked.request(method, path, headers=headers)
            assert response.status_code == 401, (method, path)
            assert response.headers["WWW-Authenticate"] == "Bearer"
    every: Sequence[KeyScope] = ("predict", "read", "train", "admin")
    for scope in every:
        headers = key(parts, scope)
        for method, path, sufficient in minutes.walk(walked):
            is_refused = locked.request(method, path, headers=headers).status_code == 403
            assert is_refused == (scope not in sufficient), (scope, method, path)


@pytest.mark.thorough
def test_no_operation_accepts_a_token_that_the_issuer_has_not_signed_or_that_is_of_another_time_or_audience(
    parts: SmallParts, minutes: Minutes
) -> None:
    with serving() as issuer:
        keys = KeyAuthenticator(parts.transaction, needs_keys=True, now=minutes)
        authenticator = TokenAuthenticator(keys, IssuerKeys(Issuer(issuer.url)), TokenRules(issuer.url, AUDIENCE))
        with TestClient(
            make_application(parts, LIMITS, authenticator=authenticator, log_requests=False),
            base_url="http://localhost",
        ) as client:
            walked = operations()
            assert len(walked) > 70
            for token in refused_tokens(issuer):
                for method, path, _ in minutes.walk(walked):
                    response = client.request(method, path, headers={"Authorization": f"Bearer {token}"})
                    assert response.status_code == 401, (method, path)
                    assert response.headers["WWW-Authenticate"] == "Bearer"
            for scope in ("predict", "read", "train", "admin"):
                headers = {"Authorization": f"Bearer {issuer.token(issuer.claims(scope=scope))}"}
                for method, path, sufficient in minutes.walk(walked):
                    is_refused = client.request(method, path, headers=headers).status_code == 403
                    assert is_refused == (scope not in sufficient), (scope, method, path)


def test_scopes_are_those_that_a_reader_expects(locked: TestClient) -> None:
    found = {(method, path): scopes - {"admin"} for method, path, scopes in operations()}
    assert found["POST", "/v1/models/1/predict"] == {"predict"}
    assert found["POST", "/v1/batch-predictions"] == {"predict", "train"}
    assert found["POST", "/v2/models/1/infer"] == {"predict"}
    assert found["GET", "/v2/models/1"] == {"predict", "read"}
    assert found["GET", "/v1/models"] == {"read"}
    assert found["POST", "/v1/datasets"] == found["DELETE", "/v1/models/1"] == {"train"}
    assert found["GET", "/v1/keys"] == found["POST", "/v1/keys"] == set()
    assert found["POST", "/v1/session"] == found["GET", "/v1/session"] == {"predict", "read", "train"}


@pytest.mark.parametrize("name", ["predict", "compare", "profile", "infer", "index"])
@pytest.mark.parametrize("scope", ["predict", "read"])
def test_a_resource_that_is_named_as_an_action_needs_no_other_scope(
    parts: SmallParts, locked: TestClient, name: str, scope: KeyScope
) -> None:
    headers = key(parts, scope)
    for method, path in (
        ("PUT", f"/v1/models/small/aliases/{name}"),
        ("DELETE", f"/v1/models/small/aliases/{name}"),
        ("DELETE", f"/v1/models/small/versions/{name}"),
        ("PATCH", f"/v1/models/{name}"),
        ("DELETE", f"/v1/models/{name}"),
        ("POST", f"/v1/models/{name}/versions"),
        ("DELETE", f"/v1/webhooks/{name}"),
    ):
        assert locked.request(method, path, headers=headers).status_code == 403, (method, path)
    assert locked.post(f"/v2/models/{name}/infer", headers=headers).status_code == (403 if scope == "read" else 404)


def test_a_missing_scope_is_named(parts: SmallParts, locked: TestClient) -> None:
    response = locked.post("/v1/models/small/predict", json=ROWS, headers=key(parts, "read", "train"))
    assert_problem(response, "insufficient-scope", "The API key or token needs the scope predict; it has read, train.")
    assert response.headers["WWW-Authenticate"] == 'Bearer error="insufficient_scope", scope="predict"'
    response = locked.get("/v1/keys", headers=key(parts, "read"))
    assert_problem(response, "insufficient-scope", "The API key or token needs the scope admin; it has read.")


def test_what_another_owner_has_is_not_found(parts: SmallParts, locked: TestClient) -> None:
    mine, theirs = key(parts, "admin"), key(parts, "admin", owner="acme")
    dataset = locked.get("/v1/datasets", headers=mine).json()["items"][0]["id"]
    (made,) = (one for one in locked.get("/v1/keys", headers=mine).json()["items"])
    for method, path, body in (
        ("GET", "/v1/models/small", None),
        ("POST", "/v1/models/small/predict", ROWS),
        ("GET", "/v2/models/small", None),
        ("DELETE", "/v1/models/small", None),
        ("GET", f"/v1/datasets/{dataset}", None),
        ("GET", f"/v1/keys/{made['id']}", None),
        ("POST", f"/v1/keys/{made['id']}/revoke", None),
    ):
        assert locked.request(method, path, json=body, headers=theirs).status_code == 404, path
    assert locked.get("/v1/models", headers=theirs).json()["items"] == []
    assert locked.post("/v1/models/small/predict", json=ROWS, headers=mine).status_code == 200


def made(response: Response, status: int = 201) -> dict[str, Json]:
    assert response.status_code == status, response.text
    found: dict[str, Json] = response.json()
    return found


def test_a_key_is_created_used_rotated_and_revoked(parts: SmallParts, locked: TestClient) -> None:
    admin = key(parts, "admin")
    requested = {"name": "shop", "scopes": ["read", "predict"], "expires_at": "2036-01-01T00:00:00Z"}
    response = locked.post("/v1/keys", json=requested, headers=admin)
    first = made(response)
    assert response.headers["Location"] == f"/v1/keys/{first['id']}"
    assert response.headers["Cache-Control"] == "no-store"
    secret = first.pop("secret")
    assert isinstance(secret, str)
    assert first["scopes"] == ["predict", "read"]
    assert secret.startswith(str(first["prefix"]))
    assert locked.get(response.headers["Location"], headers=admin).json() == first
    shop = {"Authorization": f"Bearer {secret}"}
    assert locked.get("/v1/models", headers=shop).status_code == 200

    second = made(locked.post(f"/v1/keys/{first['id']}/rotate", json={"overlap_seconds": 3600}, headers=admin))
    assert (second["name"], second["scopes"]) == ("shop", ["predict", "read"])
    assert locked.get("/v1/models", headers={"Authorization": f"Bearer {second['secret']}"}).status_code == 200
    listed = locked.get("/v1/keys", headers=admin).json()["items"]
    assert [one["id"] for one in listed[:2]] == [second["id"], first["id"]]
    assert all("secret" not in one for one in listed)

    assert made(locked.post(f"/v1/keys/{first['id']}/revoke", headers=admin), 200)["revoked_at"] is not None
    assert locked.get("/v1/models", headers=shop).status_code == 401


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/name"),
        ({"name": ""}, "/name"),
        ({"name": "x", "scopes": []}, "/scopes"),
        ({"name": "x", "scopes": ["write"]}, "/scopes/0"),
        ({"name": "x", "expires_at": "2036-01-01T00:00:00"}, "/expires_at"),
        ({"name": "x", "owner": "acme"}, "/owner"),
    ],
)
def test_an_invalid_key_is_refused_with_its_place(
    parts: SmallParts, locked: TestClient, body: dict[str, Json], pointer: str
) -> None:
    response = locked.post("/v1/keys", json=body, headers=key(parts, "admin"))
    assert response.status_code == 422
    assert [error["pointer"] for error in response.json()["errors"]] == [pointer]


def test_while_keys_can_not_be_read_the_service_is_unavailable(parts: SmallParts, locked: TestClient) -> None:
    parts.stored.reachable = False
    response = locked.get("/v1/models")
    assert response.status_code == 503
    assert response.headers["Retry-After"] == "2"
    assert locked.get("/health/live").status_code == 200


PROJECT = {"Relevance-Project": "local"}
UNKNOWN = {"Relevance-Project": "nobody"}
each_role_thoroughly = pytest.mark.parametrize(
    "role", [pytest.param(role, marks=() if role == "editor" else pytest.mark.thorough) for role in ROLES]
)
"""One table has the scopes of roles for keys, sessions and tokens."""
END_OF_SESSION = ("DELETE", "/v1/session")
"""A session that it ended would be refused by all others."""

REPLACEMENT = ("POST", "/v1/session")
"""With a session and a project it replaces the session, which ends."""


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy may be read at once: what is no member is looked for twice."""
    monkeypatch.setattr("app.accounts.authenticator.MIN_REFRESH_SECONDS", 0.0)


@pytest.fixture
def with_tokens(parts: SmallParts, minutes: Minutes) -> Iterator[tuple[TestClient, TokenIssuer]]:
    """A client of an application that accepts tokens of an issuer."""
    with serving() as issuer:
        keys = KeyAuthenticator(parts.transaction, needs_keys=True, now=minutes)
        authenticator = TokenAuthenticator(keys, IssuerKeys(Issuer(issuer.url)), TokenRules(issuer.url, AUDIENCE))
        with TestClient(
            make_application(parts, LIMITS, authenticator=authenticator, log_requests=False),
            base_url="http://localhost",
        ) as client:
            yield client, issuer


def walked(minutes: Minutes) -> Iterator[Operation]:
    found = [one for one in operations() if one[:2] != END_OF_SESSION]
    assert len(found) > 80
    return minutes.walk(found)


def is_addressed_by_path(path: str) -> bool:
    """Return whether the path of an operation names the project: it is permitted by the own scopes."""
    return path.startswith("/v1/projects")


def is_missing_project(response: Response) -> bool:
    return response.status_code == 404 and "There is no project" in response.text


def assert_permits(
    client: TestClient,
    minutes: Minutes,
    headers: Mapping[str, str],
    permitted: frozenset[KeyScope],
    own: frozenset[KeyScope],
    *,
    by_session: bool = False,
) -> None:
    """Assert that these headers suffice for exactly the operations of some scopes, on projects of its own ones."""
    for method, path, sufficient in walked(minutes):
        if by_session and (method, path) == REPLACEMENT:
            continue
        response = client.request(method, path, headers=headers)
        assert response.status_code != 401, (method, path)
        assert not is_missing_project(response), (method, path)
        scopes = own if is_addressed_by_path(path) else permitted
        assert (response.status_code == 403) == scopes.isdisjoint(sufficient), (scopes, method, path)


def assert_hides(client: TestClient, minutes: Minutes, headers: Mapping[str, str]) -> None:
    """Assert that no operation differs between a project that is not shared and an unknown one."""
    for method, path, _ in walked(minutes):
        hidden, unknown = (client.request(method, path, headers={**headers, **named}) for named in (PROJECT, UNKNOWN))
        if is_addressed_by_path(path):
            own = client.request(method, path, headers=headers)
            assert without_names(hidden, "") == without_names(unknown, "") == without_names(own, ""), (method, path)
            continue
        assert is_missing_project(hidden), (method, path, hidden.text)
        assert without_names(hidden, "local") == without_names(unknown, "nobody"), (method, path)


def without_names(response: Response, project: str) -> tuple[int, list[str], str]:
    text = response.text.replace(response.headers["X-Request-ID"], "").replace(project, "")
    return response.status_code, [name for name, _ in response.headers.items() if name != "content-length"], text


@each_role_thoroughly
def test_each_operation_permits_a_member_what_its_role_and_its_key_permit(
    parts: SmallParts, locked: TestClient, role: Role, minutes: Minutes
) -> None:
    share(parts.members, "local", "vision", role)
    for scope in KEY_SCOPES:
        of_key = frozenset(KEY_SCOPES if scope == "admin" else (scope,))
        headers = key(parts, scope, owner="vision") | PROJECT
        assert_permits(locked, minutes, headers, ROLE_SCOPES[role] & of_key, of_key)


@each_role_thoroughly
def test_each_operation_permits_a_session_what_its_role_permits_by_header_and_by_itself(
    parts: SmallParts, locked: TestClient, role: Role, minutes: Minutes
) -> None:
    share(parts.members, "local", "vision", role)
    of_key, every = key(parts, "admin", owner="vision"), frozenset(KEY_SCOPES)
    by_header = session(locked, of_key) | OWN_PAGE | PROJECT
    assert_permits(locked, minutes, by_header, ROLE_SCOPES[role], every, by_session=True)
    in_project = session(locked, of_key | PROJECT) | OWN_PAGE
    assert_permits(locked, minutes, in_project, ROLE_SCOPES[role], every, by_session=True)


@each_role_thoroughly
def test_each_operation_permits_a_token_what_its_role_and_its_scopes_permit(
    parts: SmallParts, with_tokens: tuple[TestClient, TokenIssuer], role: Role, minutes: Minutes
) -> None:
    client, issuer = with_tokens
    share(parts.members, "local", "auth0|ada", role)
    for scope in ("admin", "read train"):
        token = issuer.token(issuer.claims(sub="auth0|ada", scope=scope))
        of_token = frozenset[KeyScope](KEY_SCOPES if scope == "admin" else ("read", "train"))
        headers = {"Authorization": f"Bearer {token}"} | PROJECT
        assert_permits(client, minutes, headers, ROLE_SCOPES[role] & of_token, of_token)


def test_no_operation_shows_a_project_to_an_owner_that_is_no_member_or_was_one(
    parts: SmallParts, locked: TestClient, minutes: Minutes
) -> None:
    stranger, former = key(parts, "admin", owner="stranger"), key(parts, "admin", owner="vision")
    share(parts.members, "local", "vision", "admin")
    share(parts.members, "stranger", "local", "admin")  # what it shares itself gives it nothing
    assert locked.get("/v1/models", headers=former | PROJECT).status_code == 200
    of_session = session(locked, former)
    in_project = session(locked, former | PROJECT) | OWN_PAGE
    assert locked.get("/v1/models", headers=in_project).status_code == 200
    parts.members.remove("local", "vision")
    for headers in (stranger, former, of_session | OWN_PAGE):
        assert_hides(locked, minutes, headers)
    for method, path, _ in walked(minutes):  # as the session of a revoked key
        assert locked.request(method, path, headers=in_project).status_code == 401, (method, path)


def test_no_operation_shows_a_project_to_a_token_whose_owner_is_no_member(
    parts: SmallParts, with_tokens: tuple[TestClient, TokenIssuer], minutes: Minutes
) -> None:
    client, issuer = with_tokens
    share(parts.members, "local", "acme", "admin")
    token = {"Authorization": f"Bearer {issuer.token(issuer.claims(sub='acme2', scope='admin'))}"}
    assert_hides(client, minutes, token)


def test_an_invalid_key_is_refused_before_the_project_is_looked_for(
    parts: SmallParts, locked: TestClient, minutes: Minutes
) -> None:
    for named in (PROJECT, UNKNOWN, {}):
        for method, path, _ in walked(minutes):
            response = locked.request(method, path, headers={"Authorization": "Bearer wrong"} | named)
            assert response.status_code == 401


def test_members_are_added_listed_changed_and_removed(parts: SmallParts, locked: TestClient) -> None:
    admin = key(parts, "admin")
    added = locked.put("/v1/members/auth0%7Cada", json={"role": "viewer"}, headers=admin)
    assert (added.status_code, added.headers["Location"]) == (201, "/v1/members/auth0%7Cada")
    assert locked.get(added.headers["Location"], headers=admin).json() == added.json()
    assert {name: added.json()[name] for name in ("subject", "role")} == {"subject": "auth0|ada", "role": "viewer"}
    changed = locked.put("/v1/members/auth0%7Cada", json={"role": "editor"}, headers=admin)
    assert (changed.status_code, changed.json()) == (200, added.json() | {"role": "editor"})
    assert changed.json()["state"] == "invited"
    assert locked.get("/v1/members", headers=admin).json()["items"] == []
    for subject in ("auth0|ada", "https://a.test/b"):
        share(parts.members, "local", subject, "admin")
    slashes = locked.put("/v1/members/https%3A%2F%2Fa.test%2Fb", json={"role": "admin"}, headers=admin)
    assert slashes.json()["subject"] == "https://a.test/b"
    first = locked.get("/v1/members?limit=1", headers=admin).json()
    second = locked.get("/v1/members", params={"limit": 1, "after": first["after"]}, headers=admin).json()
    assert [one["subject"] for one in (*first["items"], *second["items"])] == ["auth0|ada", "https://a.test/b"]
    assert (first["has_more"], second["has_more"]) == (True, False)
    assert locked.delete("/v1/members/https%3A%2F%2Fa.test%2Fb", headers=admin).json() == {
        "subject": "https://a.test/b",
        "keys": [],
    }
    again = locked.delete("/v1/members/auth0%7Cada2", headers=admin)
    assert_problem(again, "not-found", "There is no member 'auth0|ada2'.")


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/members/vision", {}, 422),
        ("/v1/members/vision", {"role": "owner"}, 422),
        ("/v1/members/vision", {"role": "viewer", "scopes": ["admin"]}, 422),
        ("/v1/members/%20", {"role": "viewer"}, 422),
        ("/v1/members/" + "x" * 101, {"role": "viewer"}, 422),
        ("/v1/members/a%00b", {"role": "viewer"}, 404),
        ("/v1/members/local", {"role": "viewer"}, 409),
    ],
)
def test_an_invalid_member_is_refused(
    parts: SmallParts, locked: TestClient, path: str, body: Json, status: int
) -> None:
    assert locked.put(path, json=body, headers=key(parts, "admin")).status_code == status
    assert locked.get("/v1/members", headers=key(parts, "admin")).json()["items"] == []


def test_projects_are_the_own_one_and_those_that_are_shared(parts: SmallParts, locked: TestClient) -> None:
    roles: Mapping[str, Role] = {"acme": "viewer", "zoo": "admin", "labs": "editor"}
    for owner, role in roles.items():
        share(parts.members, owner, "local", role)
    share(parts.members, "acme", "other", "admin")

    def listed(headers: Mapping[str, str]) -> Sequence[tuple[str, str, list[str]]]:
        items = locked.get("/v1/projects", headers=headers).json()["items"]
        return [(one["name"], one["role"], one["scopes"]) for one in items]

    assert listed(key(parts, "admin")) == [
        ("acme", "viewer", ["predict", "read"]),
        ("labs", "editor", ["predict", "read", "train"]),
        ("local", "owner", ["admin"]),
        ("zoo", "admin", list(KEY_SCOPES)),
    ]
    expected = [("acme", "viewer", ["predict"]), ("labs", "editor", ["predict", "train"])]
    expected += [("local", "owner", ["predict", "train"]), ("zoo", "admin", ["predict", "train"])]
    for headers in (key(parts, "predict", "train"), session(locked, key(parts, "predict", "train"))):
        assert listed(headers) == expected
        assert listed(headers | {"Relevance-Project": "acme"}) == expected  # of its key, wherever it acts


@pytest.mark.parametrize(
    ("owner", "header"),
    [("auth0|ada", "auth0|ada"), ("a b", "a%20b"), ("élan", "%C3%A9lan"), ("a, b", "a, b"), ("50%", "50%25")],
)
def test_the_header_has_the_characters_of_a_path(
    parts: SmallParts, locked: TestClient, owner: str, header: str
) -> None:
    share(parts.members, owner, "local", "viewer")
    shown = locked.get("/v1/session", headers=key(parts, "read") | {"Relevance-Project": header})
    assert (shown.json()["owner"], shown.json()["subject"]) == (owner, "local")


def test_a_header_names_exactly_one_project(parts: SmallParts, locked: TestClient) -> None:
    share(parts.members, "acme", "local", "viewer")
    authorization = b"Authorization", key(parts, "admin")["Authorization"].encode()
    for wrong in ([b""], [b"ACME"], [b"acme", b"acme"], [b"acme", b"local"], [b"\xff"], [b"acme%00"]):
        headers = [authorization, *((b"Relevance-Project", one) for one in wrong)]
        assert is_missing_project(locked.get("/v1/models", headers=headers)), wrong


def test_the_own_project_may_be_named_and_needs_no_membership(parts: SmallParts, locked: TestClient) -> None:
    own = key(parts, "admin")
    for path in ("/v1/models", "/v1/keys"):
        assert locked.get(path, headers=own | PROJECT).json() == locked.get(path, headers=own).json()


def test_a_service_that_needs_no_key_has_its_own_project_alone(parts: SmallParts, client: TestClient) -> None:
    open_until_there_is_a_key = KeyAuthenticator(parts.transaction, now=Minutes())
    with TestClient(
        make_application(parts, LIMITS, authenticator=open_until_there_is_a_key), base_url="http://localhost"
    ) as other:
        for opened in (client, other):
            assert opened.get("/v1/models", headers=PROJECT).status_code == 200
            assert is_missing_project(opened.get("/v1/models", headers=UNKNOWN))


def test_a_missing_scope_is_named_with_the_project(parts: SmallParts, locked: TestClient) -> None:
    share(parts.members, "local", "vision", "viewer")
    refused = locked.delete("/v1/models/small", headers=key(parts, "admin", owner="vision") | PROJECT)
    detail = "The API key or token needs the scope train in the project 'local'; it has predict, read."
    assert_problem(refused, "insufficient-scope", detail)


def test_responses_that_caches_keep_vary_by_the_project(parts: SmallParts, locked: TestClient) -> None:
    headers = key(parts, "admin")
    for path, named in product(("/v1/models/small/versions/1", "/v1/nothing", "/v2/models/small"), ({}, PROJECT)):
        response = locked.get(path, headers=headers | named)
        assert "relevance-project" in response.headers.get_list("vary"), path
    response = locked.get("/v1/models/small/versions/1", headers=headers)
    again = locked.get("/v1/models/small/versions/1", headers=headers | {"If-None-Match": response.headers["ETag"]})
    assert (again.status_code, again.headers["Vary"]) == (304, "relevance-project")
    assert "Vary" not in locked.get("/health/live").headers


def test_an_owner_accepts_its_invitation_and_leaves_by_its_own_keys_alone(
    parts: SmallParts, locked: TestClient
) -> None:
    owner, vision, reader = (
        key(parts, "admin"),
        key(parts, "read", "train", owner="vision"),
        key(parts, "read", owner="vision"),
    )
    assert locked.put("/v1/members/vision", json={"role": "viewer"}, headers=owner).status_code == 201
    (project,) = locked.get("/v1/projects?state=invited", headers=vision).json()["items"]
    assert (project["name"], project["role"], project["state"]) == ("local", "viewer", "invited")
    assert is_missing_project(locked.get("/v1/session", headers=vision | PROJECT))
    assert locked.put("/v1/projects/local", headers=reader).status_code == 403
    for stranger in (owner, key(parts, "admin", owner="stranger")):
        assert locked.put("/v1/projects/local", headers=stranger).status_code == 404
    assert locked.put("/v1/projects/local", headers=vision).json() == project | {"state": "member"}
    assert locked.get("/v1/session", headers=vision | PROJECT).status_code == 200
    assert [one["subject"] for one in locked.get("/v1/members", headers=owner).json()["items"]] == ["vision"]
    assert locked.delete("/v1/projects/local", headers=vision).status_code == 204
    assert is_missing_project(locked.get("/v1/session", headers=vision | PROJECT))
    assert locked.delete("/v1/projects/local", headers=vision).status_code == 404


@pytest.mark.parametrize("named", ["local", "vision", "nobody"])
@pytest.mark.parametrize("role", ROLES)
def test_an_owner_accepts_and_leaves_whatever_project_its_requests_name(
    parts: SmallParts, locked: TestClient, role: Role, named: str
) -> None:
    of_key = key(parts, "train", owner="vision")
    by_key = of_key | {"Relevance-Project": named}
    for headers in (by_key, session(locked, of_key) | OWN_PAGE | {"Relevance-Project": named}):
        parts.members.put("local", "vision", role)
        (invited,) = locked.get("/v1/projects?state=invited", headers=headers).json()["items"]
        accepted = locked.put("/v1/projects/local", headers=headers)
        assert (accepted.status_code, accepted.json()) == (200, invited | {"state": "member"})
        assert "local" in [one["name"] for one in locked.get("/v1/projects", headers=headers).json()["items"]]
        assert locked.delete("/v1/projects/local", headers=headers).status_code == 204
        assert locked.delete("/v1/projects/local", headers=headers).status_code == 404


@pytest.mark.parametrize("role", ROLES)
def test_a_session_in_a_project_leaves_it(parts: SmallParts, locked: TestClient, role: Role) -> None:
    share(parts.members, "local", "vision", role)
    headers = session(locked, key(parts, "read", "train", owner="vision") | PROJECT) | OWN_PAGE
    assert locked.delete("/v1/projects/local", headers=headers).status_code == 204
    assert locked.get("/v1/session", headers=headers).status_code == 401


def test_the_keys_that_a_member_made_and_those_made_by_these_are_revoked_with_its_membership(
    parts: SmallParts, locked: TestClient
) -> None:
    owner, vision = key(parts, "admin"), key(parts, "admin", owner="vision") | PROJECT
    share(parts.members, "local", "vision", "admin")
    of_owner = locked.post("/v1/keys", json={"name": "of the owner"}, headers=owner).json()
    body = {"name": "of the member", "scopes": ["admin"]}
    for headers in (vision, session(locked, vision) | OWN_PAGE):
        made = locked.post("/v1/keys", json=body, headers=headers).json()
        bearer = {"Authorization": f"Bearer {made['secret']}"}
        second = locked.post("/v1/keys", json=body, headers=bearer).json()
        third = locked.post(f"/v1/keys/{second['id']}/rotate", json={"overlap_seconds": 60}, headers=bearer).json()
        assert [one["made_by"] for one in (made, second, third)] == ["vision"] * 3
        removed = locked.delete("/v1/members/vision", headers=owner).json()
        assert {one["id"] for one in removed["keys"]} == {made["id"], second["id"], third["id"]}
        assert all(one["revoked_at"] is not None for one in removed["keys"])
        for one in (made, second, third):
            assert locked.get("/v1/models", headers={"Authorization": f"Bearer {one['secret']}"}).status_code == 401
        share(parts.members, "local", "vision", "admin")
    kept = locked.get(f"/v1/keys/{of_owner['id']}", headers=owner).json()
    assert (kept["made_by"], kept["revoked_at"]) == ("local", None)


def test_the_keys_of_a_removed_member_are_kept_on_request(parts: SmallParts, locked: TestClient) -> None:
    owner, vision = key(parts, "admin"), key(parts, "admin", owner="vision") | PROJECT
    share(parts.members, "local", "vision", "admin")
    made = locked.post("/v1/keys", json={"name": "of the member"}, headers=vision).json()
    removed = locked.delete("/v1/members/vision?keys=keep", headers=owner).json()
    assert [(one["id"], one["revoked_at"]) for one in removed["keys"]] == [(made["id"], None)]
    assert locked.get("/v1/models", headers={"Authorization": f"Bearer {made['secret']}"}).status_code == 200
    assert locked.delete("/v1/members/vision?keys=burn", headers=owner).status_code == 422
