"""Steps of every request: ids, log lines, the key, limits, and the refusals of the framework itself."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient
from structlog.testing import capture_logs

from app import errors
from app.database.frame import NewerReleaseError
from app.errors import ConflictError, UnavailableError
from app.formats import ROW_FORMATS, WRITABLE_FORMATS
from app.http.problems import KINDS, kind_of
from app.main import make_application
from relevance_bayes.records import errors as shared_errors
from relevance_bayes.records.errors import Fault, InvalidDataError, RelevanceError
from tests.applications import LIMITS, SUBMIT, SmallParts
from tests.doubles.authenticator import OneKey
from tests.problems import TITLES, assert_problem

RESPONSE_TYPES = tuple(one.media_type for one in WRITABLE_FORMATS)
KEY = "correct horse battery staple"
JOBS = "/v1/training-jobs"


@pytest.fixture
def locked(parts: SmallParts) -> Iterator[TestClient]:
    """A client of an application with a key."""
    with TestClient(make_application(parts, LIMITS, authenticator=OneKey(KEY)), base_url="http://localhost") as client:
        yield client


def test_a_sane_request_id_is_kept_and_another_replaced(client: TestClient) -> None:
    assert client.get("/health/live", headers={"X-Request-ID": "abc-1/2:3"}).headers["X-Request-ID"] == "abc-1/2:3"
    for insane in ("", "x" * 129, "a b", 'quo"te'):
        made = client.get("/health/live", headers={"X-Request-ID": insane}).headers["X-Request-ID"]
        assert made != insane
        assert len(made) == 36
    one, other = (client.get("/health/live").headers["X-Request-ID"] for _ in range(2))
    assert one != other


def test_each_request_is_one_line_without_bodies_or_keys(locked: TestClient) -> None:
    with capture_logs() as lines:
        response = locked.post(f"{JOBS}?secret=1", json=SUBMIT, headers={"Authorization": f"Bearer {KEY}"})
    (line,) = lines
    took = line.pop("ms")
    assert isinstance(took, float)
    assert line == {
        "event": "request",
        "log_level": "info",
        "method": "POST",
        "path": JOBS,
        "status": 202,
        "request_id": response.headers["X-Request-ID"],
    }


def test_where_requests_are_not_logged_there_is_no_line_but_an_id_and_what_goes_wrong(
    parts: SmallParts, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down() -> None:
        raise RuntimeError

    monkeypatch.setattr(parts, "ready", break_down)
    application = make_application(parts, LIMITS, log_requests=False)
    with (
        TestClient(application, raise_server_exceptions=False, base_url="http://localhost") as client,
        capture_logs() as lines,
    ):
        assert len(client.get("/health/live").headers["X-Request-ID"]) == 36
        assert client.get("/health/ready").status_code == 500
    assert [line["event"] for line in lines] == ["unexpected"]


@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Bearer wrong", KEY, f"Basic {KEY}", f"Bearer {KEY}x", f"Bearer {KEY[:-1]}", "Bearer \xff"],
)
def test_without_the_key_nothing_is_stated(locked: TestClient, authorization: str | None) -> None:
    headers = {} if authorization is None else {b"Authorization": authorization.encode("latin-1")}
    for method, path in (
        ("GET", JOBS),
        ("GET", "/v1/models/small"),
        ("GET", "/v1/nothing"),
        ("GET", "/v1"),
        ("POST", "/v1/models/small/predict"),
        ("POST", "/v1/models/small/versions/1/predict"),
    ):
        response = locked.request(method, path, headers=headers)
        assert_problem(response, "unauthenticated", "Send a valid API key or token as `Authorization: Bearer <key>`.")
        assert response.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_with_the_key_all_is_open(locked: TestClient, scheme: str) -> None:
    assert locked.get(JOBS, headers={"Authorization": f"{scheme} {KEY}"}).status_code == 200


def test_below_another_path_the_key_is_needed_as_well(parts: SmallParts) -> None:
    below = TestClient(
        make_application(parts, LIMITS, authenticator=OneKey("secret")),
        root_path="/models",
        base_url="http://localhost",
    )
    rows = {"rows": [{"x": 0.5, "colour": "red"}]}
    for method, path, body in (
        ("GET", "/v1/models", None),
        ("POST", "/v1/models/small/predict", rows),
        ("GET", "/v2/models/small", None),
    ):
        assert below.request(method, f"/models{path}", json=body).status_code == 401
        known = below.request(method, f"/models{path}", json=body, headers={"Authorization": "Bearer secret"})
        assert known.status_code == 200
    assert below.get("/models/health/live").status_code == 200
    assert "error" in below.get("/models/v2/models/small").json()


def test_probes_and_documentation_need_no_key(locked: TestClient) -> None:
    for path in ("/health/live", "/health/ready", "/docs", "/redoc", "/openapi.json"):
        assert locked.get(path).status_code == 200


def test_a_body_announced_above_the_limit_is_refused_unread(client: TestClient) -> None:
    response = client.post(JOBS, content=b"{" * 5000, headers={"Content-Type": "application/json"})
    assert_problem(response, "too-large", "Expected a body of at most 4096 bytes, got more.")


def test_a_body_that_does_not_state_how_long_it_is_is_cut_off(client: TestClient) -> None:
    def long() -> Iterator[bytes]:
        yield from (b" " * 1000 for _ in range(100))

    for path in (JOBS, "/v1/models/small/predict"):
        response = client.post(path, content=long(), headers={"Content-Type": "application/json"})
        assert_problem(response, "too-large", "Expected a body of at most 4096 bytes, got more.")


@pytest.mark.parametrize("path", [JOBS, "/v1/models/small/predict", "/v1/models/small/versions/1/predict"])
@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None])
def test_a_body_that_does_not_claim_to_be_json_is_415(client: TestClient, path: str, media_type: str | None) -> None:
    headers = {} if media_type is None else {"Content-Type": media_type}
    got = media_type or "no Content-Type"
    expected = "application/json," if path == JOBS else f"{', '.join(one.media_type for one in ROW_FORMATS)};"
    detail = f"Expected {expected} got {got}."
    assert_problem(client.post(path, content=b"{}", headers=headers), "unsupported-media-type", detail)


@pytest.mark.parametrize(
    ("method", "path"), [("GET", JOBS), ("POST", JOBS), ("GET", "/v1/models"), ("POST", "/v1/models/small/predict")]
)
def test_an_accept_that_can_not_be_satisfied_is_406(client: TestClient, method: str, path: str) -> None:
    response = client.request(method, path, headers={"Accept": "text/html;q=0.9, application/xml"}, json=SUBMIT)
    given = (
        f"Expected one of {', '.join(RESPONSE_TYPES)} in the Accept header, got none."
        if path.endswith("/predict")
        else "Expected application/json in the Accept header, got only other types."
    )
    assert_problem(response, "not-acceptable", given)


@pytest.mark.parametrize("accept", ["*/*", "application/*", "application/json;q=0.1, text/html", ""])
def test_an_accept_that_can_be_satisfied_is_satisfied(client: TestClient, accept: str) -> None:
    assert client.get(JOBS, headers={"Accept": accept}).status_code == 200


@pytest.mark.parametrize("path", ["/v1", "/v1/nothing", "/v1/models/", "/v1/models/small/versions/1/train"])
def test_a_path_that_is_not_there_is_404(client: TestClient, path: str) -> None:
    assert_problem(client.get(path), "not-found", f"There is no resource at {path}.")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/v1/models/small", "DELETE, GET, HEAD, PATCH"),
        ("DELETE", JOBS, "GET, HEAD, POST"),
        ("GET", "/v1/models/small/predict", "POST"),
        ("PATCH", "/v1/datasets", "GET, HEAD, POST"),
        ("POST", "/health/live", "GET, HEAD"),
    ],
)
def test_a_wrong_method_is_405_and_the_right_ones_are_named(
    client: TestClient, method: str, path: str, allowed: str
) -> None:
    response = client.request(method, path)
    assert_problem(response, "method-not-allowed", f"Expected {allowed} at {path}, got {method}.")
    assert response.headers["Allow"] == allowed


def test_a_database_out_of_reach_is_503_and_states_when_to_come_back(client: TestClient, parts: SmallParts) -> None:
    parts.stored.reachable = False
    requests = [
        ("GET", JOBS),
        ("POST", JOBS),
        ("GET", "/v1/models"),
        ("GET", "/v1/datasets"),
        ("POST", "/v1/models/small/predict"),
    ]
    for method, path in requests:
        response = client.request(method, path, json=SUBMIT)
        assert_problem(response, "unavailable", "The database can't be reached.")
        assert response.headers["Retry-After"] == "2"


def test_what_nobody_foresaw_is_500_without_internals_and_logged_with_them(
    client: TestClient, parts: SmallParts, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down() -> None:
        raise RuntimeError("the secret of the inside")

    monkeypatch.setattr(parts, "ready", break_down)
    with capture_logs() as lines:
        response = client.get("/health/ready", headers={"X-Request-ID": "find-me"})
    assert_problem(
        response,
        "unexpected",
        "The service failed unexpectedly. Its log has the error under the request id.",
    )
    assert "secret" not in response.text
    assert response.headers["X-Request-ID"] == "find-me"
    request, unexpected = sorted(lines, key=lambda line: str(line["event"]))
    assert (request["status"], request["request_id"]) == (500, "find-me")
    assert unexpected["request_id"] == "find-me"
    assert "the secret of the inside" in str(unexpected["exc_info"])


def test_an_error_of_the_inside_is_500_without_internals(
    client: TestClient, parts: SmallParts, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down() -> None:
        raise type("BytesOfAnotherWorld", (RelevanceError,), {})("the secret of the inside")

    monkeypatch.setattr(parts, "ready", break_down)
    with capture_logs() as lines:
        response = client.get("/health/ready")
    assert response.status_code == 500
    assert "secret" not in response.text
    assert "the secret of the inside" in str(lines)


def test_a_problem_with_very_many_faults_lists_the_first(
    client: TestClient, parts: SmallParts, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise InvalidDataError("Much is wrong", [Fault("bad", row=row) for row in range(250)])

    monkeypatch.setattr(parts, "ready", refuse)
    assert_problem(
        client.get("/health/ready"),
        "invalid-data",
        "Much is wrong. The first 100 of 250 errors are listed.",
        [{"row": row, "detail": "Bad."} for row in range(100)],
    )


def test_every_error_of_the_service_has_its_kind() -> None:
    named = {
        member
        for member in (vars(errors) | vars(shared_errors)).values()
        if isinstance(member, type) and issubclass(member, RelevanceError) and member is not RelevanceError
    }
    of_their_own = {one for one in named if one in KINDS or RelevanceError in one.__bases__}
    assert of_their_own == set(KINDS) - {NewerReleaseError}
    assert kind_of(NewerReleaseError("stored data")) == kind_of(UnavailableError("away"))
    assert kind_of(UnavailableError("away")).status == 503


def test_an_error_without_a_kind_of_its_own_has_its_ancestors() -> None:
    special = type("SpecialConflict", (ConflictError,), {})
    assert kind_of(special("no")) == KINDS[ConflictError]


def test_no_kind_of_problem_has_two_names() -> None:
    kinds = {kind.slug: (kind.status, kind.title) for kind in KINDS.values()}
    assert len(kinds) == len(set(KINDS.values()))
    assert {slug: TITLES[slug] for slug in kinds if slug in TITLES} == {
        slug: kind for slug, kind in kinds.items() if slug in TITLES
    }
