"""Keys over HTTP, and what each kind of key opens."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache
from uuid import UUID

import pytest
from httpx2 import Response
from starlette.testclient import TestClient

from app.accounts.authenticator import KeyAuthenticator
from app.accounts.issuer_keys import Issuer, IssuerKeys
from app.accounts.tokens import TokenAuthenticator, TokenRules
from app.http.openapi import Json
from app.http.paths import is_protected
from app.main import create_app, make_application
from app.settings import Settings
from relevance_bayes.records.keys import KeyScope
from tests.applications import LIMITS, NOW, Minutes, Operation, SmallParts
from tests.issuers import AUDIENCE, refused_tokens, serving
from tests.problems import assert_problem

ROWS = {"rows": [{"x": 0.5, "colour": "red"}]}


def key(
    parts: SmallParts, *scopes: KeyScope, owner: str = "local", expires_at: datetime | None = None
) -> dict[str, str]:
    _, secret = parts.keys.create(owner, "of a test", scopes=scopes, expires_at=expires_at)
    return {"Authorization": f"Bearer {secret}"}


@cache
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
