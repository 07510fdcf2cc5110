"""Creating requests that come again, over a real database."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest
from sqlalchemy import Engine, text
from starlette.testclient import TestClient

from app.datasets.ingest import Ingest
from app.errors import UnavailableError
from app.http.idempotency import read_key
from app.main import make_application
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.tables.columns import Block
from relevance_bayes.tables.statistics import TableStatistics
from tests.applications import LIMITS, StoredParts
from tests.problems import assert_problem

COLUMNS = {"columns": {"x": [1.0, 2.0, 3.5, 4.0], "y": [0.5, 1.1, 2.3, 2.9]}}
REUSED = "This Idempotency-Key came before with another request: send each request with a key of its own."
MALFORMED = "Expected an Idempotency-Key of 1 to 255 visible ASCII characters, such as a UUID."
CSV = "x,y\n1,0.5\n2,1.1\n3.5,2.3\n"


@pytest.fixture
def client(engine: Engine) -> Iterator[TestClient]:
    with TestClient(
        make_application(StoredParts.over(engine, max_unfinished=3), LIMITS),
        raise_server_exceptions=False,
        base_url="http://localhost",
    ) as client:
        yield client


@pytest.fixture
def submit(client: TestClient) -> dict[str, object]:
    """The request of a training of a small table."""
    return {"dataset_id": client.post("/v1/datasets", json=COLUMNS).json()["id"], "target": "y"}


def named(key: str) -> dict[str, str]:
    return {"Idempotency-Key": key}


def kept(engine: Engine, what: str) -> int:
    with engine.connect() as connection:
        return int(connection.execute(text(f"SELECT count(*) FROM {what}")).scalar_one())


def assert_same_response(first: httpx2.Response, again: httpx2.Response) -> None:
    assert again.headers.pop("Idempotent-Replayed") == "true"
    assert "Idempotent-Replayed" not in first.headers
    assert (again.status_code, again.content) == (first.status_code, first.content)
    for headers in (first.headers, again.headers):
        del headers["X-Request-ID"]
    assert dict(again.headers) == dict(first.headers)
    assert first.headers["Location"].endswith(first.json()["id"])


def test_the_same_submit_under_the_same_key_is_one_job(
    client: TestClient, engine: Engine, submit: dict[str, object]
) -> None:
    first, again = (client.post("/v1/training-jobs", json=submit, headers=named("a")) for _ in range(2))
    assert first.status_code == 202
    assert_same_response(first, again)
    assert (kept(engine, "jobs"), kept(engine, "submitted")) == (1, 1)
    other = client.post("/v1/training-jobs", json=submit, headers=named("b"))
    assert other.json()["id"] != first.json()["id"]


def test_a_repeated_response_is_the_first_one_whatever_became_of_the_job(
    client: TestClient, submit: dict[str, object]
) -> None:
    first = client.post("/v1/training-jobs", json=submit, headers=named("a"))
    client.post(f"/v1/training-jobs/{first.json()['id']}/cancel")
    client.delete(f"/v1/datasets/{submit['dataset_id']}")
    assert_same_response(first, client.post("/v1/training-jobs", json=submit, headers=named('"a"')))


def test_without_a_key_each_request_is_one_of_its_own(
    client: TestClient, engine: Engine, submit: dict[str, object]
) -> None:
    ids = {client.post("/v1/training-jobs", json=submit).json()["id"] for _ in range(2)}
    assert len(ids) == 2
    assert kept(engine, "request_keys") == 0


def test_another_body_under_the_same_key_is_refused(
    client: TestClient, engine: Engine, submit: dict[str, object]
) -> None:
    client.post("/v1/training-jobs", json=submit, headers=named("a"))
    other = client.post("/v1/training-jobs", json={**submit, "seed": 1}, headers=named("a"))
    assert_problem(other, "idempotency-key-reused", REUSED)
    assert kept(engine, "jobs") == 1


def test_what_was_refused_may_be_mended_under_its_key(
    client: TestClient, engine: Engine, submit: dict[str, object]
) -> None:
    for wrong in ({**submit, "target": "z"}, {**submit, "model": "A"}, {"target": "y"}):
        assert client.post("/v1/training-jobs", json=wrong, headers=named("a")).status_code == 422
    missing = {**submit, "dataset_id": "01900000-0000-7000-8000-00000000dead"}
    assert client.post("/v1/training-jobs", json=missing, headers=named("a")).status_code == 404
    assert kept(engine, "request_keys") == 0
    assert client.post("/v1/training-jobs", json=submit, headers=named("a")).status_code == 202


def test_a_key_of_one_call_means_nothing_to_another(
    client: TestClient, engine: Engine, submit: dict[str, object]
) -> None:
    job = client.post("/v1/training-jobs", json=submit, headers=named("a")).json()
    client.post(f"/v1/training-jobs/{job['id']}/cancel")
    again = client.post(f"/v1/training-jobs/{job['id']}/retry", headers=named("a"))
    assert client.post("/v1/datasets", json=COLUMNS, headers=named("a")).status_code == 201
    assert (again.status_code, again.json()["retry_of"]) == (202, job["id"])
    assert_same_response(again, client.post(f"/v1/training-jobs/{job['id']}/retry", headers=named("a")))
    assert kept(engine, "jobs") == 2


def test_of_submits_at_once_one_makes_a_job_and_all_return_it(
    client: TestClient, engine: Engine, submit: dict[str, object]
) -> None:
    def send(_: int) -> httpx2.Response:
        return client.post("/v1/training-jobs", json=submit, headers=named("a"))

    with ThreadPoolExecutor(8) as pool:
        responses = list(pool.map(send, range(8), timeout=60))
    assert {response.status_code for response in responses} == {202}
    assert len({response.content for response in responses}) == 1
    assert sum("Idempotent-Replayed" not in response.headers for response in responses) == 1
    assert kept(engine, "jobs") == 1


@pytest.mark.parametrize(
    ("key", "read"),
    [
        ("a", "a"),
        ('"a"', "a"),
        (r'"a\"b\\c"', 'a"b\\c'),
        ("a,b;c=!~", "a,b;c=!~"),
        (" a ", "a"),
        ("k" * 255, "k" * 255),
    ],
)
def test_a_key_is_quoted_or_bare(key: str, read: str) -> None:
    assert read_key(key) == read


@pytest.mark.parametrize("key", ["", '""', '"a', "a b", '"a b"', '"a"b', "k" * 256, "rød", r'"\a"', "a\x7f"])
def test_what_is_no_key_is_refused(key: str) -> None:
    with pytest.raises(InvalidRequestError, match="1 to 255 visible ASCII"):
        read_key(key)


def test_a_malformed_key_and_two_of_them_are_problems(client: TestClient, submit: dict[str, object]) -> None:
    wrong = client.post("/v1/training-jobs", json=submit, headers=named("a b"))
    assert_problem(wrong, "invalid-request", MALFORMED, [{"header": "Idempotency-Key", "detail": MALFORMED}])
    two: Sequence[tuple[str, str]] = [("Idempotency-Key", "a"), ("Idempotency-Key", "b")]
    twice = client.post("/v1/training-jobs", json=submit, headers=two)
    several = "Expected one Idempotency-Key, got 2."
    assert_problem(twice, "invalid-request", several, [{"header": "Idempotency-Key", "detail": several}])


def test_the_same_upload_under_the_same_key_is_one_dataset(client: TestClient, engine: Engine) -> None:
    headers = named("a") | {"Content-Type": "text/csv"}
    first, again = (client.post("/v1/datasets?name=n", content=CSV, headers=headers) for _ in range(2))
    assert first.status_code == 201
    assert_same_response(first, again)
    assert kept(engine, "datasets") == 1
    for query, content, kind in (
        ("?name=m", CSV, "text/csv"),
        ("?name=n", CSV + "4,5\n", "text/csv"),
        ("?name=n", CSV, "text/tab-separated-values"),
    ):
        other = client.post(f"/v1/datasets{query}", content=content, headers=named("a") | {"Content-Type": kind})
        assert_problem(other, "idempotency-key-reused", REUSED)


def test_of_a_form_the_file_counts_and_not_the_boundary(client: TestClient, engine: Engine) -> None:
    def send(boundary: str, content: str = CSV) -> httpx2.Response:
        disposition = 'form-data; name="file"; filename="t.csv"'
        body = f"--{boundary}\r\nContent-Disposition: {disposition}\r\n\r\n{content}\r\n--{boundary}--\r\n"
        kind = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        return client.post("/v1/datasets", content=body, headers=named("a") | kind)

    assert_same_response(send("one"), send("other"))
    assert_problem(send("one", CSV + "4,5\n"), "idempotency-key-reused", REUSED)
    assert kept(engine, "datasets") == 1


def test_an_upload_that_was_refused_may_be_mended_under_its_key(client: TestClient, engine: Engine) -> None:
    headers = named("a") | {"Content-Type": "text/csv"}
    broken = CSV * 40 + "1,2,3\n"
    assert client.post("/v1/datasets", content=broken, headers=headers).status_code == 400
    assert kept(engine, "request_keys") == 0
    assert client.post("/v1/datasets", content=CSV, headers=headers).status_code == 201
    assert kept(engine, "datasets") == 1


def test_an_upload_that_is_still_being_stored_is_in_use(
    client: TestClient, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = named("a") | {"Content-Type": "text/csv"}
    inner: list[httpx2.Response] = []
    add = TableStatistics.add

    def meanwhile(seen: TableStatistics, block: Block) -> None:  # between two transactions
        monkeypatch.setattr(TableStatistics, "add", add)
        inner.append(client.post("/v1/datasets", content=CSV, headers=headers))
        add(seen, block)

    monkeypatch.setattr(TableStatistics, "add", meanwhile)
    assert client.post("/v1/datasets", content=CSV, headers=headers).status_code == 201
    (reported,) = inner
    assert reported.headers["Retry-After"] == "2"
    assert_problem(
        reported,
        "idempotency-key-in-use",
        "The first request with this Idempotency-Key is still being processed; retry in a moment.",
    )
    assert kept(engine, "datasets") == 1


def test_an_upload_whose_process_died_gives_its_key_to_the_next(
    client: TestClient, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = named("a") | {"Content-Type": "text/csv"}

    def die(*_: object) -> bytes:
        raise UnavailableError("The process was killed: nothing is put in order after it.")

    with monkeypatch.context() as dying:
        dying.setattr("app.datasets.repository.encode_block", die)
        dying.setattr(Ingest, "_discard", lambda *_: None)
        assert client.post("/v1/datasets", content=CSV, headers=headers).status_code == 503
    assert client.post("/v1/datasets", content=CSV, headers=headers).status_code == 409
    monkeypatch.setattr("app.http.key_repository.LEASE_SECONDS", -1.0)
    first, again = (client.post("/v1/datasets", content=CSV, headers=headers) for _ in range(2))
    assert first.status_code == 201
    assert_same_response(first, again)
    assert kept(engine, "datasets") == 2  # what the dead one left is for the sweep


def test_more_jobs_than_may_wait_are_reported_to_come_later(
    client: TestClient, engine: Engine, submit: dict[str, object]
) -> None:
    ids = [
        client.post("/v1/training-jobs", json=submit, headers=named(str(number))).json()["id"] for number in range(3)
    ]
    refused = client.post("/v1/training-jobs", json=submit, headers=named("3"))
    assert refused.headers["Retry-After"] == "10"
    assert_problem(
        refused,
        "too-many-jobs",
        "3 jobs are unfinished, the maximum: try again later, or cancel some.",
    )
    assert (kept(engine, "jobs"), kept(engine, "submitted"), kept(engine, "request_keys")) == (3, 3, 3)
    again = client.post("/v1/training-jobs", json=submit, headers=named("0"))
    assert again.json()["id"] == ids[0]
    client.post(f"/v1/training-jobs/{ids[0]}/cancel")
    assert client.post("/v1/training-jobs", json=submit, headers=named("3")).status_code == 202


def test_the_keys_problems_are_documented(openapi: httpx2.Response) -> None:
    schema = openapi.json()
    creating = [
        "/v1/batch-predictions",
        "/v1/batch-predictions/{job_id}/retry",
        "/v1/datasets",
        "/v1/evaluations",
        "/v1/evaluations/{job_id}/retry",
        "/v1/models/{name}/aliases/{alias}/promotions",
        "/v1/models/{name}/versions",
        "/v1/promotions/{job_id}/retry",
        "/v1/training-jobs",
        "/v1/training-jobs/{job_id}/retry",
        "/v1/webhooks",
    ]
    for path, operations in schema["paths"].items():
        parameters = operations.get("post", {}).get("parameters", [])
        found = [one for one in parameters if one.get("name") == "Idempotency-Key"]
        assert len(found) == (path in creating), path
    assert "429" in schema["paths"]["/v1/training-jobs"]["post"]["responses"]
