"""Sessions on two processes, behind a proxy on loopback."""

import time

import httpx2
import pytest

from tests.end_to_end.deployment import Api, Deployment
from tests.keys import add_key

KEY = {"Authorization": "Bearer only a test of sessions"}
OWN_PAGE = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def apis(deployment: Deployment) -> tuple[Api, Api]:
    add_key(deployment.database_url, "only a test of sessions")
    return deployment.api(), deployment.api()


def session(api: Api, **headers: str) -> httpx2.Response:
    response = api.http.post("/v1/session", headers=KEY | headers)
    api.http.cookies.clear()
    assert response.status_code == 201, response.text
    return response


def cookie(response: httpx2.Response) -> dict[str, str]:
    return {"Cookie": response.headers["Set-Cookie"].partition(";")[0]}


def test_a_new_session_is_known_to_each_process_at_once_and_one_that_was_ended_to_none_within_two_seconds(
    apis: tuple[Api, Api],
) -> None:
    one, other = apis
    cookies = []
    for _ in range(5):
        cookies.append(cookie(session(one)))
        for api in (other, one):
            assert api.http.get("/v1/session", headers=cookies[-1]).status_code == 200
    known = cookies[0]
    assert one.http.delete("/v1/session", headers=known | OWN_PAGE).status_code == 204
    ended = time.monotonic()
    for api in (one, other):
        while api.http.get("/v1/session", headers=known).status_code == 200:
            time.sleep(0.05)
        assert time.monotonic() - ended < 2.0
        assert api.http.get("/v1/session", headers=known).status_code == 401


def test_behind_a_proxy_with_tls_on_loopback_cookies_are_secure(apis: tuple[Api, Api]) -> None:
    one, other = apis
    by_https = {"X-Forwarded-Proto": "https"}
    response = session(one, **by_https)
    assert response.headers["Set-Cookie"].startswith("__Host-relevance-session=")
    assert response.headers["Set-Cookie"].endswith("; Secure")
    assert other.http.get("/v1/session", headers=cookie(response) | by_https).status_code == 200
    plain = cookie(session(one))
    assert other.http.get("/v1/session", headers=plain).status_code == 200
    assert other.http.get("/v1/session", headers=plain | by_https).status_code == 401
