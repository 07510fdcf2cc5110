"""Batch predictions over HTTP: requested, looked at, downloaded whole and in part, removed."""

from collections.abc import Iterator
from threading import Event
from uuid import UUID

import httpx2
import pytest
from sqlalchemy import Engine
from starlette.testclient import TestClient

from app.accounts.authenticator import KeyAuthenticator
from app.evaluation.runner import Scorer
from app.formats.streams import TableStream
from app.identity import BUILT_IN_OWNER
from app.jobs.worker.attempts import Records
from app.main import make_application
from app.prediction import batch_runner as predict
from app.prediction.result_repository import ResultRepository
from app.registry.repository import ModelRepository
from relevance_bayes.records.accounts import KeyScope
from relevance_bayes.tables.columns import Block
from tests.applications import DATASET, LIMITS, SmallParts, StoredParts
from tests.keys import share
from tests.problems import assert_problem
from tests.small_models import small_version
from tests.small_tables import numbers, texts

PATH = "/v1/batch-predictions"
REQUEST = {"model": "small", "dataset_id": str(DATASET.id)}
ROWS = 40


@pytest.fixture
def stored(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> StoredParts:
    """A version of `small`, whose files are kept in pieces of 1,000 bytes."""
    monkeypatch.setattr(predict, "MAX_BYTES_OF_A_PIECE", 1_000)
    parts = StoredParts.over(engine)
    with parts.transaction() as tx:
        ModelRepository(tx).add(BUILT_IN_OWNER, small_version())
    return parts


@pytest.fixture
def service(stored: StoredParts) -> Iterator[TestClient]:
    with TestClient(make_application(stored, LIMITS), base_url="http://localhost") as client:
        yield client


def uploaded(parts: StoredParts) -> UUID:
    block: Block = {"x": numbers(*range(ROWS)), "colour": texts(*["red", "blue"] * (ROWS // 2))}
    made = parts.ingest.receive(
        BUILT_IN_OWNER, "things", TableStream(names=("x", "colour"), kinds=("number", "category"), blocks=iter([block]))
    ).dataset
    return made.id


def queued(service: TestClient, parts: StoredParts, **more: object) -> str:
    response = service.post(PATH, json={"model": "small", "dataset_id": str(uploaded(parts)), **more})
    assert response.status_code == 202, response.text
    return str(response.headers["Location"])


def run(parts: StoredParts, path: str) -> None:
    assert Scorer(Records(parts.transaction, Event()), "this program")(UUID(path.rpartition("/")[2]))


@pytest.fixture
def made(service: TestClient, stored: StoredParts) -> str:
    """The path of a job that has succeeded."""
    path = queued(service, stored, keep=["colour"])
    run(stored, path)
    return path


def test_a_batch_prediction_is_accepted_with_the_columns_that_its_file_will_have(
    client: TestClient, parts: SmallParts
) -> None:
    response = client.post(PATH, json={**REQUEST, "outputs": ["mean", "interval"], "format": "parquet", "priority": 3})
    job = response.json()
    assert response.status_code == 202
    assert response.headers["Location"] == f"{PATH}/{job['id']}"
    assert parts.stored.queue.submitted == [UUID(job["id"])]
    assert (job["state"], job["version"], job["priority"]) == ("queued", {"model": "small", "version": 1}, 3)
    assert (job["format"], job["columns"]) == ("parquet", ["mean", "lower", "upper", "error"])
    assert (job["task"], job["target"], job["result"]) == ("regression", "y", None)
    assert client.get(response.headers["Location"]).json() == job
    listed = client.get(PATH, params={"model": "small", "version": 1, "dataset_id": str(DATASET.id)}).json()
    assert listed["items"] == [job]
    assert client.get(PATH, params={"model": "other"}).json()["items"] == []


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        ({"outputs": ["label"]}, "/outputs/0"),
        ({"keep": ["nothing"]}, "/keep/0"),
        ({"format": "nothing"}, "/format"),
        ({"interval": 1}, "/interval"),
        ({"explain": 2}, "/explain"),
        ({"reject_cost": 1}, "/reject_cost"),
    ],
)
def test_what_can_not_be_is_refused_with_its_place(
    client: TestClient, parts: SmallParts, more: dict[str, object], pointer: str
) -> None:
    response = client.post(PATH, json={**REQUEST, **more})
    assert response.status_code == 422
    assert [error["pointer"] for error in response.json()["errors"]] == [pointer]
    assert not parts.stored.queue.submitted


def test_the_file_comes_whole_with_what_a_download_needs(service: TestClient, made: str) -> None:
    job = service.get(made).json()
    response = service.get(f"{made}/result")
    assert response.status_code == 200
    assert len(response.content) == job["result"]["size"] == int(response.headers["Content-Length"]) > 2_000
    assert response.text.startswith('"colour","mean","sd"')
    assert response.headers["Accept-Ranges"] == "bytes"
    assert response.headers["ETag"] == f'"{job["id"]}"'
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert response.headers["Content-Disposition"] == f'attachment; filename="predictions-{job["id"]}.csv"'
    assert job["result"] == {"rows": ROWS, "rows_not_predicted": 0, "rows_averaged": 0, "size": len(response.content)}


def part(service: TestClient, made: str, **headers: str) -> httpx2.Response:
    return service.get(f"{made}/result", headers={name.replace("_", "-"): value for name, value in headers.items()})


def test_a_part_of_the_file_is_that_part(service: TestClient, made: str) -> None:
    full = service.get(f"{made}/result").content
    size = len(full)
    for requested, first, last in (
        ("0-0", 0, 0),
        ("990-1010", 990, 1010),
        ("1500-", 1500, size - 1),
        ("-7", size - 7, size - 1),
    ):
        response = part(service, made, Range=f"bytes={requested}")
        assert (response.status_code, response.content) == (206, full[first : last + 1])
        assert response.headers["Content-Range"] == f"bytes {first}-{last}/{size}"
        assert response.headers["Content-Length"] == str(last - first + 1)


def test_a_part_of_what_is_another_file_by_now_gets_the_whole_file(service: TestClient, made: str) -> None:
    full = service.get(f"{made}/result")
    tag = full.headers["ETag"]
    assert part(service, made, Range="bytes=5-", If_Range=tag).status_code == 206
    assert part(service, made, Range="bytes=5-", If_Range='"another"').content == full.content
    assert part(service, made, Range="bytes=1-2,5-6").content == full.content
    known = part(service, made, If_None_Match=tag, Range="bytes=0-1")
    assert (known.status_code, known.content) == (304, b"")


def test_a_part_behind_the_end_is_refused_with_the_size(service: TestClient, made: str) -> None:
    size = service.get(made).json()["result"]["size"]
    response = part(service, made, Range=f"bytes={size}-")
    detail = f"The file has {size} bytes, and none of the requested range."
    assert_problem(response, "range-not-satisfiable", detail)
    assert response.headers["Content-Range"] == f"bytes */{size}"


def test_a_download_that_breaks_off_is_continued(service: TestClient, made: str) -> None:
    full, got = service.get(f"{made}/result"), b""
    while len(got) < len(full.content):
        end = len(got) + 700
        got += part(service, made, Range=f"bytes={len(got)}-{end}", If_Range=full.headers["ETag"]).content
    assert got == full.content


def test_a_type_that_the_caller_does_not_take_is_not_sent(service: TestClient, made: str) -> None:
    assert_problem(
        part(service, made, Accept="application/json"),
        "not-acceptable",
        "The file is text/csv, which the Accept header does not allow.",
    )


def test_there_is_no_file_before_the_end_and_none_once_it_was_removed(service: TestClient, stored: StoredParts) -> None:
    path = queued(service, stored)
    assert_problem(service.get(f"{path}/result"), "conflict", "There is no result yet: the job is queued.")
    assert_problem(
        service.delete(path), "conflict", "The job has not ended, it is queued: wait for its end, or cancel it first."
    )
    run(stored, path)
    with stored.transaction() as tx:
        ResultRepository(tx).forget(UUID(path.rpartition("/")[2]))
    response = service.get(f"{path}/result")
    assert response.status_code == 410
    assert response.json()["type"] == "/problems/gone"


def test_one_that_ended_can_be_removed_and_requested_again(service: TestClient, stored: StoredParts, made: str) -> None:
    again = service.post(f"{made}/retry")
    assert again.status_code == 202
    assert again.json()["retry_of"] == made.rpartition("/")[2]
    expected = service.get(f"{made}/result").content
    assert service.delete(made).status_code == 204
    assert service.get(made).status_code == service.get(f"{made}/result").status_code == 404
    assert service.delete(made).status_code == 404
    run(stored, again.headers["Location"])
    assert service.get(f"{again.headers['Location']}/result").content == expected


def test_one_that_waits_is_cancelled_at_once_and_reports_what_happened(client: TestClient) -> None:
    path = client.post(PATH, json=REQUEST).headers["Location"]
    assert client.post(f"{path}/cancel").json()["state"] == "cancelled"
    assert len(client.get(f"{path}/events").json()["items"]) >= 1
    assert client.get(path.replace("batch-predictions", "evaluations")).status_code == 404


def bearer(parts: StoredParts, *scopes: KeyScope, owner: str = BUILT_IN_OWNER) -> dict[str, str]:
    return {"Authorization": f"Bearer {parts.keys.create(owner, 'of a test', scopes=scopes)[1]}"}


def test_a_key_that_may_predict_alone_reads_and_deletes_its_own_batch_predictions_and_no_others(
    stored: StoredParts,
) -> None:
    predicting, other, train, read = (bearer(stored, scope) for scope in ("predict", "predict", "train", "read"))
    member = bearer(stored, "predict", owner="vision") | {"Relevance-Project": BUILT_IN_OWNER}
    share(stored.members, BUILT_IN_OWNER, "vision", "viewer")
    body = {"model": "small", "dataset_id": str(uploaded(stored))}
    authenticator = KeyAuthenticator(stored.transaction, needs_keys=True)
    application = make_application(stored, LIMITS, authenticator=authenticator)
    with TestClient(application, base_url="http://localhost") as client:
        paths = {}
        for name, headers in (("own", predicting), ("train", train), ("member", member)):
            response = client.post(PATH, json=body, headers=headers)
            assert response.status_code == 202, response.text
            paths[name] = response.headers["Location"]
            run(stored, paths[name])
        for headers, names in ((predicting, {"own"}), (other, set()), (member, {"member"}), (read, set(paths))):
            for name, path in paths.items():
                status = 200 if name in names else 404
                for part in (path, f"{path}/result"):
                    assert client.get(part, headers=headers).status_code == status, (name, part)
        session = client.post("/v1/session", headers=predicting).cookies
        client.cookies.clear()
        cookie = {"Cookie": "; ".join(f"{name}={value}" for name, value in session.items())}
        assert client.get(paths["own"], headers=cookie).status_code == 200
        assert client.get(PATH, headers=predicting).status_code == 403
        for headers in (other, member):
            for method, suffix in (("DELETE", ""), ("POST", "/cancel"), ("POST", "/retry")):
                assert client.request(method, paths["own"] + suffix, headers=headers).status_code == 404
        assert client.delete(paths["own"], headers=predicting).status_code == 204
        assert client.delete(paths["train"], headers=predicting).status_code == 404
        assert client.delete(paths["member"], headers=train).status_code == 204
