"""Sessions over HTTP, and what each kind of session permits."""

import logging
import time
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from starlette.testclient import TestClient

from app.accounts.authenticator import KeyAuthenticator
from app.accounts.service import Sessions
from app.accounts.tokens import Issuer, IssuerKeys, TokenAuthenticator, TokenRules
from app.http.authentication import READING
from app.identity import Principal
from app.main import make_application
from relevance_bayes.records.accounts import KEY_SCOPES
from tests.accounts.test_routes import OWN_PAGE, ROWS, key, operations, session
from tests.applications import DATASET, LIMITS, SESSION_SECONDS, SUBMIT, Minutes, SmallParts
from tests.issuers import AUDIENCE, serving
from tests.problems import assert_problem
from tests.small_tables import NOW

OTHER_PAGES: tuple[dict[str, str], ...] = (
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Origin": "https://evil.test"},
    {"Origin": "null"},
    {},
)


def test_each_operation_needs_a_session_that_is_valid_and_has_one_of_its_scopes(
    parts: SmallParts, locked: TestClient, minutes: Minutes
) -> None:
    walked = [one for one in operations() if one[:2] != ("DELETE", "/v1/session")]
    assert len(walked) > 70
    revoked, secret = parts.keys.create("local", "of a test", scopes=("admin",))
    of_revoked = session(locked, {"Authorization": f"Bearer {secret}"})
    parts.keys.revoke("local", UUID(revoked.id))
    ended = session(locked, key(parts, "admin"))
    assert locked.delete("/v1/session", headers=ended | OWN_PAGE).status_code == 204
    expired, _ = Sessions(parts.transaction, 60.0).create(principal_of_key(parts))  # a minute of 2024
    is_key = {"Cookie": f"relevance-session={secret}"}
    wrong = {"Cookie": "relevance-session=wrong"}
    twice = {"Cookie": "; ".join([session(locked, key(parts, "admin"))["Cookie"]] * 2)}
    of_expired = {"Cookie": f"relevance-session={expired}"}
    for refused in (of_revoked, ended, of_expired, is_key, wrong, twice):
        for method, path, _ in minutes.walk([*walked, ("DELETE", "/v1/session", frozenset())]):
            response = locked.request(method, path, headers=refused | OWN_PAGE)
            assert response.status_code == 401, (refused, method, path)
            assert response.headers["WWW-Authenticate"] == "Bearer"
    for scope in KEY_SCOPES:
        headers = session(locked, key(parts, scope)) | OWN_PAGE
        for method, path, sufficient in minutes.walk(walked):
            response = locked.request(method, path, headers=headers)
            assert response.status_code != 401, (scope, method, path)
            assert (response.status_code == 403) == (scope not in sufficient), (scope, method, path)


def principal_of_key(parts: SmallParts) -> Principal:
    made, _ = parts.keys.create("local", "of a test", scopes=("admin",))
    return Principal("local", frozenset(made.scopes), key_id=UUID(made.id))


def test_no_operation_changes_anything_for_a_page_of_another_origin(
    parts: SmallParts, locked: TestClient, minutes: Minutes
) -> None:
    headers = session(locked, key(parts, "admin"))
    for page in OTHER_PAGES:
        for method, path, _ in minutes.walk(operations()):
            response = locked.request(method, path, headers=headers | page)
            if method in READING:
                assert response.status_code not in {401, 403}, (page, method, path)
            else:
                assert response.status_code == 403, (page, method, path)
                assert response.json()["type"] == "/problems/cross-site-request"
    response = locked.delete("/v1/models/small", headers=headers | {"Origin": "null"})
    assert_problem(response, "cross-site-request", "Expected a request by a page of this service, got Origin: null.")
    assert locked.delete("/v1/models/small", headers=headers | {"Origin": "http://localhost"}).status_code == 204


def test_a_key_needs_no_origin_and_wins_over_a_session(parts: SmallParts, locked: TestClient) -> None:
    weak, strong = key(parts, "predict"), session(locked, key(parts, "admin"))
    refused = locked.delete("/v1/models/small", headers=weak | strong)
    assert refused.json()["type"] == "/problems/insufficient-scope"
    assert locked.get("/v1/models", headers={"Authorization": "Bearer wrong"} | strong).status_code == 401
    assert locked.get("/v1/models", headers={"Authorization": "Basic x"} | strong).status_code == 401
    assert locked.get("/v1/models", headers=strong).status_code == 200
    cross_site = {"Sec-Fetch-Site": "cross-site"}
    assert locked.delete("/v1/models/small", headers=key(parts, "train") | cross_site).status_code == 204


def test_the_secret_of_a_session_is_no_key(parts: SmallParts, locked: TestClient) -> None:
    secret = session(locked, key(parts, "admin"))["Cookie"].partition("=")[2]
    assert locked.get("/v1/models", headers={"Authorization": f"Bearer {secret}"}).status_code == 401


def test_a_session_is_created_shown_and_ended(parts: SmallParts, locked: TestClient) -> None:
    made = locked.post("/v1/session", headers=key(parts, "train", "read", owner="acme"))
    expires_at = NOW + timedelta(seconds=SESSION_SECONDS)
    shown = {
        "owner": "acme",
        "scopes": ["read", "train"],
        "expires_at": expires_at.isoformat().replace("+00:00", "Z"),
        "subject": "acme",
    }
    assert (made.status_code, made.json(), made.headers["Cache-Control"]) == (201, shown, "no-store")
    cookie, *attributes = made.headers["Set-Cookie"].split("; ")
    name, _, secret = cookie.partition("=")
    assert (name, len(secret)) == ("relevance-session", 43)
    seconds = int(attributes.pop(0).removeprefix("Max-Age="))
    assert 0 <= seconds - (expires_at.timestamp() - time.time()) < 60
    assert attributes == ["Path=/", "HttpOnly", "SameSite=Strict"]

    got = locked.get("/v1/session")  # the client keeps cookies as a browser does
    assert (got.status_code, got.json(), got.headers["Cache-Control"]) == (200, shown, "no-store")
    assert got.headers.get_list("vary") == ["relevance-project", "cookie"]
    again = locked.post("/v1/session", headers=OWN_PAGE)
    assert_problem(
        again, "conflict", "Expected an API key or token in `Authorization`, or a project; got a session alone."
    )
    assert locked.delete("/v1/session").status_code == 403
    ended = locked.delete("/v1/session", headers=OWN_PAGE)
    assert (ended.status_code, ended.content) == (204, b"")
    assert [one.split("; ")[:2] for one in ended.headers.get_list("set-cookie")] == [
        ["__Host-relevance-session=", "Max-Age=0"],
        ["relevance-session=", "Max-Age=0"],
    ]
    assert not locked.cookies
    assert locked.get("/v1/session").status_code == 401
    assert locked.get("/v1/session", headers={"Cookie": cookie}).status_code == 401


def test_a_key_is_shown_as_a_session_is_and_has_none_to_end(parts: SmallParts, locked: TestClient) -> None:
    expires_at = datetime(2036, 1, 1, tzinfo=UTC)
    headers = key(parts, "predict", expires_at=expires_at)
    shown = {"owner": "local", "scopes": ["predict"], "expires_at": "2036-01-01T00:00:00Z", "subject": "local"}
    got = locked.get("/v1/session", headers=headers)
    assert got.json() == shown
    assert got.headers["Vary"] == "relevance-project"
    cookie = session(locked, headers)
    assert_problem(locked.delete("/v1/session", headers=headers), "not-found", "The request has no session cookie.")
    assert locked.delete("/v1/session", headers=headers | cookie).status_code == 204
    assert locked.get("/v1/session", headers=cookie).status_code == 401


def test_under_https_the_cookie_is_secure_and_of_this_host_alone(parts: SmallParts) -> None:
    authenticator = KeyAuthenticator(parts.transaction, needs_keys=True, now=Minutes())
    application = make_application(parts, LIMITS, authenticator=authenticator)
    with TestClient(application, base_url="https://localhost") as client:
        made = client.post("/v1/session", headers=key(parts, "read"))
        assert made.headers["Set-Cookie"].startswith("__Host-relevance-session=")
        assert made.headers["Set-Cookie"].endswith("; Secure")
        assert client.get("/v1/session").status_code == 200
        plain = {"Cookie": made.headers["Set-Cookie"].partition(";")[0].removeprefix("__Host-")}
        client.cookies.clear()
        assert client.get("/v1/session", headers=plain).status_code == 401


def test_a_page_of_another_origin_can_not_log_a_browser_in(parts: SmallParts, locked: TestClient) -> None:
    for page in OTHER_PAGES[:-1]:
        refused = locked.post("/v1/session", headers=key(parts, "read") | page)
        assert refused.json()["type"] == "/problems/cross-site-request"
        assert "Set-Cookie" not in refused.headers
    assert locked.post("/v1/session", headers=key(parts, "read") | OWN_PAGE).status_code == 201


def test_a_service_that_needs_no_key_has_no_sessions_and_does_as_before(parts: SmallParts, client: TestClient) -> None:
    shown = {"owner": "local", "scopes": list(KEY_SCOPES), "expires_at": None, "subject": "local"}
    for headers in ({}, {"Cookie": "relevance-session=of another time"}):
        assert client.get("/v1/session", headers=headers).json() == shown
        refused = client.post("/v1/session", headers=headers)
        assert_problem(refused, "conflict", "The service needs no API key, and requests need no session.")
        response = client.post("/v1/models/small/predict", json=ROWS, headers=headers)
        assert response.status_code == 200
    open_until_there_is_a_key = KeyAuthenticator(parts.transaction, now=Minutes())
    with TestClient(
        make_application(parts, LIMITS, authenticator=open_until_there_is_a_key), base_url="http://localhost"
    ) as other:
        response = other.post("/v1/models/small/predict", json=ROWS, headers={"Cookie": "relevance-session=old"})
        assert response.status_code == 200


def test_what_another_owner_has_is_not_found(parts: SmallParts, locked: TestClient) -> None:
    mine = session(locked, key(parts, "admin")) | OWN_PAGE
    theirs = session(locked, key(parts, "admin", owner="acme")) | OWN_PAGE
    for method, path in (
        ("GET", "/v1/models/small"),
        ("DELETE", "/v1/models/small"),
        ("GET", "/v2/models/small"),
        ("GET", f"/v1/datasets/{DATASET.id}"),
        ("DELETE", f"/v1/datasets/{DATASET.id}"),
    ):
        assert locked.request(method, path, headers=theirs).status_code == 404, path
    assert locked.get("/v1/models", headers=theirs).json()["items"] == []
    for path in ("/v1/models/small/predict", "/v2/models/small/infer"):
        assert locked.post(path, json=ROWS, headers=theirs).status_code == 404
    assert locked.post("/v1/models/small/predict", json=ROWS, headers=mine).status_code == 200
    assert locked.get("/v2/models/small", headers=mine).status_code == 200


def test_a_session_of_a_token_has_its_owner_and_scopes_and_ends_with_it(parts: SmallParts) -> None:
    with serving() as issuer:
        keys = KeyAuthenticator(parts.transaction, needs_keys=True, now=Minutes())
        authenticator = TokenAuthenticator(keys, IssuerKeys(Issuer(issuer.url)), TokenRules(issuer.url, AUDIENCE))
        with TestClient(
            make_application(parts, LIMITS, authenticator=authenticator), base_url="http://localhost"
        ) as client:
            expiry = int(time.time()) + 600
            claims = issuer.claims(sub="acme", scope="read openid", exp=expiry)
            made = client.post("/v1/session", headers={"Authorization": f"Bearer {issuer.token(claims)}"})
            assert made.json()["scopes"] == ["read"]
            got = client.get("/v1/session").json()
            assert (got["owner"], datetime.fromisoformat(got["expires_at"]).timestamp()) == ("acme", expiry)
            issuer.responds.clear()  # the session needs no issuer
            assert client.get("/v1/models").status_code == 200
            assert client.delete("/v1/models/small", headers=OWN_PAGE).status_code == 403


def test_the_events_of_a_job_are_streamed_with_a_session_alone(parts: SmallParts, locked: TestClient) -> None:
    admin = key(parts, "admin")
    path = f"/v1/training-jobs/{locked.post('/v1/training-jobs', json=SUBMIT, headers=admin).json()['id']}"
    assert locked.post(f"{path}/cancel", headers=admin).status_code in {200, 202}
    # What EventSource sends: it can set no other header.
    headers = session(locked, key(parts, "read")) | OWN_PAGE | {"Accept": "text/event-stream"}
    stream = locked.get(f"{path}/events", headers=headers)
    assert (stream.status_code, stream.headers["Content-Type"]) == (200, "text/event-stream; charset=utf-8")
    assert "event: transition" in stream.text
    end = stream.text.rpartition("id: ")[2].partition("\n")[0].strip()
    assert locked.get(f"{path}/events", headers=headers | {"Last-Event-ID": end}).status_code == 204
    assert locked.get(f"{path}/events", headers={"Accept": "text/event-stream"}).status_code == 401


def test_no_log_has_the_secret_of_a_session(
    parts: SmallParts, locked: TestClient, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    cookie = session(locked, key(parts, "read"))
    secret = cookie["Cookie"].partition("=")[2]
    for method, path in (("GET", "/v1/session"), ("DELETE", "/v1/session"), ("GET", "/v1/nothing")):
        locked.request(method, path, headers=cookie)
    written = capsys.readouterr()
    assert "/v1/session" in written.out + written.err + caplog.text
    assert secret not in written.out + written.err + caplog.text
