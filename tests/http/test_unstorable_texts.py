"""Texts that one of the databases cannot store, and numbers beyond its integers: both refuse them alike."""

import json
from collections.abc import Callable, Mapping
from copy import deepcopy

import pytest
from starlette.testclient import TestClient

from app.http.openapi import Json
from tests.applications import DATASET
from tests.http.test_openapi import operations

NUL = "a\0b"
HUGE = 10**30
IDS = dict.fromkeys(("dataset_id", "job_id", "webhook_id", "delivery_id"), "01900000-0000-7000-8000-00000000dead")
NAMES = {"name": "small", "alias": "champion", "version": "1", **IDS}
CSV = b"x,colour,y\n" + b"".join(b"%d,red,%d\n" % (row, row) for row in range(5))


@pytest.fixture(scope="module")
def dataset_id(stored_client: TestClient) -> str:
    response = stored_client.post("/v1/datasets", content=CSV, headers={"Content-Type": "text/csv"})
    assert response.status_code == 201, response.text
    return str(response.json()["id"])


def statuses(client: TestClient, path: str, **names: object) -> dict[str, int]:
    """Statuses of each documented path that has `path` in it, its variables filled with names."""
    found = {}
    for operation, _ in operations(client.get("/openapi.json").json()):
        method, template = operation.split()
        if path in template:
            filled = template.format(**names)
            found[operation] = client.request(method, filled, json={}).status_code
    return found


@pytest.mark.parametrize("variable", [*NAMES])
@pytest.mark.parametrize("text", ["a%00b", "%00"])
def test_a_path_with_nul_names_nothing(stored_client: TestClient, variable: str, text: str) -> None:
    found = statuses(stored_client, f"{{{variable}}}", **{**NAMES, variable: text})
    assert found
    assert set(found.values()) == {404}, found


def test_paths_outside_of_the_documented_ones_with_nul_name_nothing(stored_client: TestClient) -> None:
    paths = (
        "/%00",
        "/v1/models/small/predict%00",
        "/docs%00",
        "/v2/models/a%00/stats",
        "/v1/models/small@a%00/predict",
    )
    for path in paths:
        assert stored_client.post(path, json={}).status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/v1/datasets?name=a%00b",
        "/v1/datasets?after=%00",
        "/v1/models?tag=a:%00",
        "/v1/models?tag=%00:a",
        "/v1/models?task=%00",
        "/v1/training-jobs?model=%00",
        "/v1/evaluations?model=a%00",
        "/v1/evaluations?state=%00",
        "/v1/promotions?%00=1",
        "/v2/models/small?x=%00",
    ],
)
def test_a_query_with_nul_is_refused(stored_client: TestClient, path: str) -> None:
    assert stored_client.get(path).status_code == (400 if path.startswith("/v2") else 422)


@pytest.mark.parametrize("query", ["name=a%00b", "kinds=a%00b:number", "delimiter=%00", "decimal=%00"])
def test_an_upload_with_nul_in_its_query_is_refused(stored_client: TestClient, query: str) -> None:
    response = stored_client.post(f"/v1/datasets?{query}", content=CSV, headers={"Content-Type": "text/csv"})
    assert (response.status_code, response.json()["type"]) == (422, "/problems/invalid-request")


JOB: Mapping[str, Json] = {"dataset_id": str(DATASET.id), "target": "y", "inputs": ["x", "colour"]}
REQUESTS: Mapping[str, tuple[str, str, Mapping[str, Json], str]] = {
    "a model's description": ("PATCH", "/v1/models/small", {"description": NUL}, "/description"),
    "a version's description": ("PATCH", "/v1/models/small/versions/1", {"description": NUL}, "/description"),
    "a tag": ("PATCH", "/v1/models/small", {"tags": {"a": NUL}}, "/tags/a"),
    "a tag's name": ("PATCH", "/v1/models/small", {"tags": {NUL: "a"}}, f"/tags/{NUL}"),
    "an alias's reason": ("PUT", "/v1/models/small/aliases/champion", {"version": 1, "reason": NUL}, "/reason"),
    "an alias's version": ("PUT", "/v1/models/small/aliases/champion", {"version": NUL}, "/version"),
    "a webhook's URL": ("POST", "/v1/webhooks", {"url": f"https://example.org/{NUL}"}, "/url"),
    "a webhook's description": (
        "POST",
        "/v1/webhooks",
        {"url": "https://example.org/", "description": NUL},
        "/description",
    ),
    "a target": ("POST", "/v1/training-jobs", {**JOB, "target": NUL}, "/target"),
    "an input": ("POST", "/v1/training-jobs", {**JOB, "inputs": ["x", NUL]}, "/inputs/1"),
    "a model to be made": ("POST", "/v1/training-jobs", {**JOB, "model": NUL}, "/model"),
    "an unknown member": ("POST", "/v1/training-jobs", {**JOB, NUL: 1}, f"/{NUL}"),
    "a model to be evaluated": (
        "POST",
        "/v1/evaluations",
        {"model": NUL, "version": 1, "dataset_id": str(DATASET.id)},
        "/model",
    ),
    "a column to be kept": (
        "POST",
        "/v1/batch-predictions",
        {"model": "small", "dataset_id": str(DATASET.id), "keep": [NUL]},
        "/keep/0",
    ),
}


@pytest.mark.parametrize("of", REQUESTS)
def test_a_request_with_nul_is_refused_with_its_place(stored_client: TestClient, of: str) -> None:
    method, path, request, place = REQUESTS[of]
    response = stored_client.request(method, path, json=request)
    problem = response.json()
    assert (response.status_code, problem["type"]) == (422, "/problems/invalid-request")
    assert problem["detail"] == f"At {place}: The text contains NUL."
    assert problem["errors"] == [{"pointer": place, "detail": "The text contains NUL."}]
    looked = stored_client.get("/v1/models/small").json()
    assert (looked["description"], looked["tags"]) == (None, {})


def test_a_backslash_before_the_digits_is_no_nul(stored_client: TestClient) -> None:
    response = stored_client.patch("/v1/models/numbers", json={"description": r"\u0000"})
    assert (response.status_code, response.json()["description"]) == (200, r"\u0000")


CELLS: Mapping[str, tuple[str, bytes]] = {
    "a cell of CSV": ("text/csv", b"x,y\na\0b,1\n"),
    "a name of CSV": ("text/csv", b"x\0,y\n1,1\n"),
    "a cell of JSON": ("application/json", b'{"columns":{"a":["a\\u0000b"]}}'),
    "a name of JSON": ("application/json", b'{"columns":{"a\\u0000":[1]}}'),
    "a cell of NDJSON": ("application/x-ndjson", b'{"a":"a\\u0000b"}\n'),
    "a name of NDJSON": ("application/x-ndjson", b'{"a\\u0000":1}\n'),
}


@pytest.mark.parametrize("of", CELLS)
def test_an_uploaded_table_with_nul_is_refused(stored_client: TestClient, of: str) -> None:
    media_type, content = CELLS[of]
    response = stored_client.post("/v1/datasets", content=content, headers={"Content-Type": media_type})
    assert (response.status_code, response.json()["type"]) == (422, "/problems/invalid-data")


@pytest.mark.parametrize(
    "row", [{"x": 1, "colour": NUL}, {"x": 1, "colour": "red", NUL: 1}], ids=["category", "column"]
)
def test_rows_to_predict_for_with_nul_are_refused(stored_client: TestClient, row: Mapping[str, Json]) -> None:
    response = stored_client.post("/v1/models/small/predict", json={"rows": [row]})
    assert (response.status_code, response.json()["type"]) == (422, "/problems/invalid-data")


def test_an_imported_version_with_nul_in_any_text_is_refused(stored_client: TestClient) -> None:
    document = stored_client.get("/v1/models/small/versions/1/export?format=json").json()
    places = [*texts_in(document)]
    assert len(places) > 20
    for path in places:
        changed = deepcopy(document)
        replace_at(changed, path)
        response = stored_client.post("/v1/models/imported/versions", json=changed)
        assert response.status_code == 422, path
        assert "NUL" in response.text
    assert stored_client.get("/v1/models/imported").status_code == 404


def texts_in(value: Json, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    if isinstance(value, str):
        return [path]
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for step, part in parts for place in texts_in(part, (*path, step))]


def replace_at(value: Json, path: tuple[str | int, ...]) -> None:
    for step in path[:-1]:
        value = part(value, step)
    match value, path[-1]:
        case dict(), str(key):
            value[key] = NUL
        case list(), int(position):
            value[position] = NUL


def part(value: Json, step: str | int) -> Json:
    match value, step:
        case dict(), str():
            return value[step]
        case list(), int():
            return value[step]
    raise AssertionError(step)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"/v1/models/small/versions/{HUGE}", 404),
        ("/v1/models/small/versions/2147483648", 404),
        ("/v1/models/small/versions/-1", 404),
        (f"/v2/models/small/versions/{HUGE}", 404),
        (f"/v1/models/small/versions/1/relevance-vectors?after={HUGE}", 422),
        (f"/v1/models?limit={HUGE}", 422),
        (f"/v1/models?after={HUGE}", 422),
        (f"/v1/evaluations?version={HUGE}", 422),
        ("/v1/evaluations?version=2147483648", 422),
        ("/v1/datasets/{dataset_id}/rows?after=" + str(HUGE), 422),
        ("/v1/datasets/{dataset_id}/rows?after=9007199254740992", 200),
        ("/v1/datasets/{dataset_id}/rows?limit=" + str(HUGE), 422),
        ("/v1/models/small/aliases/champion/history?after=" + str(HUGE), 422),
    ],
)
def test_numbers_beyond_the_databases_integers(
    stored_client: TestClient, dataset_id: str, path: str, status: int
) -> None:
    assert stored_client.get(path.format(dataset_id=dataset_id)).status_code == status


@pytest.mark.parametrize("version", [HUGE, 2**31, 2**63, -1, 0])
def test_an_alias_to_no_possible_number_is_refused(stored_client: TestClient, version: int) -> None:
    content = json.dumps({"version": version})
    headers = {"Content-Type": "application/json"}
    response = stored_client.put("/v1/models/small/aliases/other", content=content, headers=headers)
    assert response.status_code == 422


SURROGATES: Mapping[str, tuple[str, Callable[[], bytes]]] = {
    "JSON": ("application/json", lambda: b'{"columns":{"a":["\\ud800"]}}'),
    "JSON, as bytes": ("application/json", lambda: b'{"columns":{"a":["\xed\xa0\x80"]}}'),
    "NDJSON": ("application/x-ndjson", lambda: b'{"a":"\\udfff"}\n'),
    "CSV": ("text/csv", lambda: b"a,b\n\xed\xa0\x80,1\n"),
}


@pytest.mark.parametrize("of", SURROGATES)
def test_half_of_a_surrogate_pair_is_no_text(stored_client: TestClient, of: str) -> None:
    media_type, content = SURROGATES[of]
    response = stored_client.post("/v1/datasets", content=content(), headers={"Content-Type": media_type})
    assert (response.status_code, response.json()["type"]) == (400, "/problems/malformed-body")


@pytest.mark.parametrize("body", [b'{"description":"\\ud800"}', b'{"description":"\xed\xa0\x80"}'])
def test_half_of_a_surrogate_pair_in_a_request_is_refused(stored_client: TestClient, body: bytes) -> None:
    response = stored_client.patch("/v1/models/small", content=body, headers={"Content-Type": "application/json"})
    assert (response.status_code, response.json()["type"]) == (400, "/problems/malformed-body")
