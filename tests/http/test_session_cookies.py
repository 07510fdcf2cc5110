import pytest
from starlette.types import Scope

from app.errors import CrossSiteError
from app.http.session_cookies import check_own_page, expired_cookies, session_cookie, session_of


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
