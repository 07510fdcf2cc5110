"""Authentication of requests: session cookies, and requests that last."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from uuid import UUID

import anyio
import pytest
from httpx2 import Response
from starlette.testclient import TestClient
from starlette.types import Scope

from app.accounts.authenticator import MAX_WAIT_SECONDS, REFRESH_SECONDS
from app.errors import CrossSiteError, UnauthenticatedError, UnavailableError
from app.http.authentication import (
    CHECK_SECONDS,
    LastingRequest,
    Reauthentication,
    check_own_page,
    expired_cookies,
    session_cookie,
    session_of,
)
from app.identity import BUILT_IN_OWNER, Principal
from app.jobs.repository import JobRepository
from tests import samples
from tests.applications import StoredParts
from tests.problems import assert_problem


def request(*headers: tuple[str, str], scheme: str = "http", host: str = "here:8000") -> Scope:
    sent = [(b"host", host.encode()), *((name.lower().encode(), value.encode()) for name, value in headers)]
    return {"type": "http", "scheme": scheme, "headers": sent}


@pytest.mark.parametrize(
    ("cookies", "by_http", "by_https"),
    [
        ([], None, None),
        (["relevance-session=one"], b"one", None),
        (["__Host-relevance-session=one"], b"one", b"one"),
        (["a=b; relevance-session=two;__Host-relevance-session=one; c"], b"one", b"one"),
        (["a=b", "relevance-session=one"], b"one", None),
        (["relevance-session=one; relevance-session=two"], None, None),
        (["__Host-relevance-session=one", "__Host-relevance-session=one"], None, None),
        (["relevance-session"], None, None),
        (["relevance-session="], b"", None),
        (["a=1 relevance-session=one"], None, None),
        ([";" * 10_000 + " " * 10_000, "relevance-session=one"], b"one", None),
        (["Relevance-Session=one; xrelevance-session=two"], None, None),
    ],
)
def test_a_session_is_that_of_exactly_one_cookie(
    cookies: list[str], by_http: bytes | None, by_https: bytes | None
) -> None:
    headers = [("Cookie", cookie) for cookie in cookies]
    assert session_of(request(*headers)) == by_http
    assert session_of(request(*headers, scheme="https")) == by_https


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (request(), False),
        (request(("Origin", "http://here:8000")), False),
        (request(("Origin", "null")), False),
        (request(("Origin", "https://here:8000")), True),
        (request(("Origin", "https://here"), host="behind-a-proxy:8000"), True),
        (request(scheme="https"), True),
    ],
)
def test_a_cookie_is_secure_and_of_this_host_alone_where_the_page_came_by_https(scope: Scope, expected: bool) -> None:
    name, secure = ("__Host-relevance-session", "; Secure") if expected else ("relevance-session", "")
    cookie = session_cookie(scope, "secret", seconds=60)
    assert cookie == f"{name}=secret; Max-Age=60; Path=/; HttpOnly; SameSite=Strict{secure}"


def test_both_cookies_are_removed() -> None:
    assert expired_cookies() == (
        "__Host-relevance-session=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict; Secure",
        "relevance-session=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict",
    )


SITE = "Sec-Fetch-Site"


@pytest.mark.parametrize(
    "headers",
    [
        [(SITE, "same-origin")],
        [(SITE, "none")],
        [(SITE, "same-origin"), ("Origin", "null")],  # a form of a page without referrers
        [("Origin", "http://here:8000")],
        [("Origin", "https://here:8000")],  # a proxy ends TLS
    ],
)
def test_a_page_of_this_service_may_change_something(headers: list[tuple[str, str]]) -> None:
    check_own_page(request(*headers), needs_origin=True)


@pytest.mark.parametrize(
    ("headers", "scheme", "got"),
    [
        ([(SITE, "cross-site")], "http", "Sec-Fetch-Site: cross-site"),
        ([(SITE, "same-site"), ("Origin", "http://here:8000")], "http", "Sec-Fetch-Site: same-site"),
        ([(SITE, "same-origin"), (SITE, "cross-site")], "http", "Sec-Fetch-Site: cross-site, same-origin"),
        ([(SITE, "")], "http", "Sec-Fetch-Site: "),
        ([("Origin", "http://there:8000")], "http", "Origin: http://there:8000"),
        ([("Origin", "http://here")], "http", "Origin: http://here"),
        ([("Origin", "http://here:8000.evil.test")], "http", "Origin: http://here:8000.evil.test"),
        ([("Origin", "http://here:8000")], "https", "Origin: http://here:8000"),
        ([("Origin", "null")], "http", "Origin: null"),
        ([("Origin", "http://here:8000"), ("Origin", "null")], "http", "Origin: http://here:8000, null"),
    ],
)
@pytest.mark.parametrize("needs_origin", [True, False])
def test_a_page_of_another_origin_may_not(
    headers: list[tuple[str, str]], scheme: str, got: str, needs_origin: bool
) -> None:
    with pytest.raises(CrossSiteError) as refused:
        check_own_page(request(*headers, scheme=scheme), needs_origin=needs_origin)
    assert refused.value.detail == f"Expected a request by a page of this service, got {got}."


def test_a_request_of_unknown_origin_may_where_none_is_needed() -> None:
    check_own_page(request(), needs_origin=False)
    with pytest.raises(CrossSiteError, match="neither `Sec-Fetch-Site` nor `Origin`"):
        check_own_page(request(), needs_origin=True)


STREAM = {"Accept": "text/event-stream"}
OWN_PAGE = {"Sec-Fetch-Site": "same-origin"}
END_SECONDS = 25.0
"""Less than the requests take otherwise, and more than a slow machine adds to the documented five."""


@pytest.fixture
def short_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials are read, and requests checked, each tenth of a second."""
    monkeypatch.setattr("app.accounts.authenticator.REFRESH_SECONDS", 0.1)
    monkeypatch.setattr("app.http.authentication.CHECK_SECONDS", 0.1)


@pytest.fixture
def path(short_intervals: None, live_parts: StoredParts) -> str:
    """The path of a job that runs and goes on running."""
    return f"/v1/training-jobs/{samples.running_job(live_parts.transaction, owner=BUILT_IN_OWNER)}"


def key(live_parts: StoredParts) -> tuple[UUID, dict[str, str]]:
    made, secret = live_parts.keys.create(BUILT_IN_OWNER, "of a test", scopes=("read", "train"))
    return UUID(made.id), {"Authorization": f"Bearer {secret}"}


def lasting(
    client_with_keys: TestClient, path: str, headers: dict[str, str], end: Callable[[], object]
) -> tuple[Response, float]:
    """The response to a request whose credential ends after some checks; and the seconds between both ends."""
    with ThreadPoolExecutor(1) as pool:
        waiting: Future[Response] = pool.submit(client_with_keys.get, path, headers=headers)
        time.sleep(0.5)
        assert not waiting.done()
        end()
        ended = time.monotonic()
        return waiting.result(60), time.monotonic() - ended


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_stream_ends_with_the_key_of_its_request(
    client_with_keys: TestClient, live_parts: StoredParts, path: str
) -> None:
    key_id, headers = key(live_parts)
    response, seconds = lasting(
        client_with_keys, f"{path}/events", headers | STREAM, lambda: live_parts.keys.revoke(BUILT_IN_OWNER, key_id)
    )
    assert response.status_code == 200
    assert "event: transition" in response.text
    assert seconds < END_SECONDS
    assert client_with_keys.get(f"{path}/events", headers=headers | STREAM).status_code == 401


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_stream_ends_with_the_logout_of_its_session(
    client_with_keys: TestClient, live_parts: StoredParts, path: str
) -> None:
    _, headers = key(live_parts)
    cookie = client_with_keys.post("/v1/session", headers=headers).headers["Set-Cookie"].partition(";")[0]
    client_with_keys.cookies.clear()
    session = OWN_PAGE | {"Cookie": cookie}
    response, seconds = lasting(
        client_with_keys,
        f"{path}/events",
        session | STREAM,
        lambda: client_with_keys.delete("/v1/session", headers=session),
    )
    assert response.status_code == 200
    assert seconds < END_SECONDS


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize("suffix", ["?wait=60", "/events?wait=60&after=1000"])
def test_a_long_poll_ends_with_the_key_of_its_request(
    suffix: str, client_with_keys: TestClient, live_parts: StoredParts, path: str
) -> None:
    key_id, headers = key(live_parts)
    response, seconds = lasting(
        client_with_keys, f"{path}{suffix}", headers, lambda: live_parts.keys.revoke(BUILT_IN_OWNER, key_id)
    )
    detail = "Send a valid API key or token as `Authorization: Bearer <key>`."
    assert_problem(response, "unauthenticated", detail)
    assert response.headers["WWW-Authenticate"] == "Bearer"
    assert seconds < END_SECONDS


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_stream_whose_key_stays_valid_goes_on_to_the_end_of_its_job(
    client_with_keys: TestClient, live_parts: StoredParts, path: str
) -> None:
    _, headers = key(live_parts)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(client_with_keys.get, f"{path}/events", headers=headers | STREAM)
        time.sleep(0.5)
        assert not waiting.done()
        with live_parts.transaction() as tx:
            assert JobRepository(tx).fail(UUID(path.rpartition("/")[2]), 1, samples.PROBLEM)
        assert '"state":"failed"' in waiting.result(30).text


def test_the_documented_time_has_a_check_a_copy_of_the_sessions_and_the_wait_for_another() -> None:
    assert CHECK_SECONDS + REFRESH_SECONDS + MAX_WAIT_SECONDS < 5.0


class Authentication:
    """An authenticator with one result; without one the database is away."""

    needs_keys = True

    def __init__(self, found: Principal | None, *, is_away: bool = False) -> None:
        self._found = found
        self._is_away = is_away

    def known(self, authorizations: object, session: bytes | None = None) -> Principal | None:
        return None if self._is_away else self._found

    async def authenticate(self, authorizations: object, session: bytes | None = None) -> Principal | None:
        if self._is_away:
            raise UnavailableError("The database can't be reached.")
        return self._found

    async def is_open(self) -> bool:
        return False

    def known_session(self, session: bytes) -> Principal | None:
        return None

    def known_acting(self, principal: Principal, project: bytes) -> Principal | None:
        return None

    async def acting(self, principal: Principal, project: bytes) -> Principal | None:
        return None if principal.owner == "nobody" else principal


def check(authenticator: Authentication, *, headers: Sequence[tuple[bytes, bytes]] = ()) -> None:
    scope: Scope = {"type": "http", "method": "GET", "path": "/v1/models", "headers": [*headers], "scheme": "http"}
    request = LastingRequest(scope, Reauthentication(authenticator))
    anyio.run(request.check)


def test_a_request_ends_where_its_credential_lost_its_scopes_and_not_while_the_database_is_away() -> None:
    check(Authentication(Principal("alice", frozenset({"read"}))))
    check(Authentication(None, is_away=True))
    for found in (None, Principal("alice", frozenset({"predict"}))):
        with pytest.raises(UnauthenticatedError):
            check(Authentication(found))


def test_a_request_in_a_project_ends_with_its_membership() -> None:
    project = ((b"relevance-project", b"acme"),)
    check(Authentication(Principal("alice")), headers=project)
    with pytest.raises(UnauthenticatedError):
        check(Authentication(Principal("nobody")), headers=project)
    check(Authentication(Principal("nobody")))
