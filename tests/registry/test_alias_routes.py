"""Aliases over HTTP."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.identity import BUILT_IN_OWNER as OWNER
from relevance_bayes.records.models import MAX_REASON_LENGTH
from tests.applications import SmallParts, filled_template
from tests.problems import assert_problem
from tests.small_models import small_version

ALIASES = "/v1/models/small/aliases"
CHAMPION = f"{ALIASES}/champion"
ROWS = {"rows": [{"x": 1.0, "colour": "red"}]}


@pytest.fixture(scope="module")
def module_template(parts_template: Path) -> Path:
    """The others beside two more versions of `small`."""

    def fill(parts: SmallParts) -> None:
        for number in (2, 3):
            parts.stored.put_version(OWNER, small_version(), number=number)

    return filled_template(parts_template, "aliases.db", fill)


def put(client: TestClient, version: int | str, **headers: str) -> str:
    """Point the champion to a version; its tag."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    response = client.put(CHAMPION, json={"version": version}, headers=named)
    assert response.status_code in (200, 201), response.text
    return response.headers["ETag"]


def test_an_alias_is_made_with_201_and_moved_with_200(client: TestClient) -> None:
    made = client.put(CHAMPION, json={"version": 2, "reason": "It was there first."})
    assert made.status_code == 201
    assert made.headers["Location"] == CHAMPION
    assert made.json() == {
        "model": "small",
        "alias": "champion",
        "version": 2,
        "moved_at": "2024-05-01T12:00:00Z",
        "moved_by": OWNER,
        "reason": "It was there first.",
    }
    looked = client.get(CHAMPION)
    assert (looked.json(), looked.headers["ETag"]) == (made.json(), made.headers["ETag"])
    assert looked.headers["Cache-Control"] == "private, no-cache"
    moved = client.put(CHAMPION, json={"version": 3})
    assert (moved.status_code, moved.json()["version"], moved.json()["reason"]) == (200, 3, None)
    assert "Location" not in moved.headers
    assert moved.headers["ETag"] != made.headers["ETag"]
    assert client.get(ALIASES).json() == {"items": [moved.json()], "has_more": False, "after": None}
    assert client.get("/v1/models/small").json()["aliases"] == {"champion": 3}


def test_an_alias_is_wherever_a_version_may(client: TestClient) -> None:
    put(client, 2)
    by_number, by_alias = "/v1/models/small/versions/2", "/v1/models/small/versions/champion"
    assert client.get(by_alias).json() == client.get(by_number).json()
    for below in ("/relevance-vectors", "/relevance-vectors?sort=weight&limit=1"):
        assert client.get(by_alias + below).json() == client.get(by_number + below).json()
    for below in ("/expansion", "/image"):
        reported, requested = client.get(by_number + below).json(), client.get(by_alias + below).json()
        assert (requested["type"], requested["detail"]) == (reported["type"], reported["detail"])
    predicted = client.post(f"{by_number}/predict", json=ROWS)
    assert predicted.json()["version"] == 2
    for path in (f"{by_alias}/predict", "/v1/models/small@champion/predict", "/v1/models/small@2/predict"):
        assert client.post(path, json=ROWS).content == predicted.content, path
    assert client.post("/v1/models/small/predict", json=ROWS).json()["version"] == 3


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("/v1/models/small/versions/nobody", "Model 'small' has no alias 'nobody'."),
        ("/v1/models/small/versions/0", "There is no version '0' of model 'small'."),
        ("/v1/models/small/versions/01", "There is no version '01' of model 'small'."),
        ("/v1/models/small/versions/2147483648", "There is no version '2147483648' of model 'small'."),
        ("/v1/models/small/versions/-1/relevance-vectors", "There is no version '-1' of model 'small'."),
        ("/v1/models/nobody/aliases", "There is no model 'nobody'."),
        (f"{ALIASES}/nobody", "Model 'small' has no alias 'nobody'."),
        (f"{ALIASES}/nobody/history", "Model 'small' has no alias 'nobody'."),
        (f"{ALIASES}/7", "Model 'small' has no alias '7'."),
        ("/v1/models/small@champion", "There is no model 'small@champion'."),
    ],
)
def test_what_is_not_there_is_404(client: TestClient, path: str, detail: str) -> None:
    assert_problem(client.get(path), "not-found", detail)


@pytest.mark.parametrize("name", ["small@nobody", "small@0", "small@", "nobody@champion", "small@a@b"])
def test_a_prediction_by_what_is_not_there_is_404(client: TestClient, name: str) -> None:
    response = client.post(f"/v1/models/{name}/predict", json=ROWS)
    assert response.json()["type"] == "/problems/not-found"
    assert response.status_code == 404


def test_a_lost_update_is_refused(client: TestClient) -> None:
    seen = put(client, 1)
    newer = put(client, 2, If_Match=seen)
    refused = client.put(CHAMPION, json={"version": 3}, headers={"If-Match": seen})
    detail = "Alias 'champion' of model 'small' has changed since it was looked at: look again."
    assert_problem(refused, "precondition-failed", detail)
    assert_problem(client.delete(CHAMPION, headers={"If-Match": seen}), "precondition-failed", detail)
    assert client.get(CHAMPION).json()["version"] == 2
    put(client, 3, If_Match=f'"other", {newer}')
    put(client, 1, If_Match="*")


def test_an_alias_is_made_only_where_there_is_none_yet(client: TestClient) -> None:
    put(client, 1, If_None_Match="*")
    refused = client.put(CHAMPION, json={"version": 2}, headers={"If-None-Match": "*"})
    assert_problem(refused, "precondition-failed", "Alias 'champion' of model 'small' is there already.")
    absent = client.put(f"{ALIASES}/other", json={"version": 2}, headers={"If-Match": "*"})
    assert_problem(absent, "precondition-failed", "Alias 'other' of model 'small' is not there.")
    assert client.get("/v1/models/small").json()["aliases"] == {"champion": 1}


@pytest.mark.parametrize("header", ["If-Match", "If-None-Match"])
@pytest.mark.parametrize("value", ["abc", '"abc', "", '"a", *', '"a" "b"', '""", "b"'])
def test_tags_that_are_none_are_refused(client: TestClient, header: str, value: str) -> None:
    response = client.put(CHAMPION, json={"version": 1}, headers={header: value})
    detail = f'Expected `*`, or entity tags in quotation marks, as in "abc", "def"; got {value!r}.'
    errors = [{"header": header, "detail": detail}]
    assert_problem(response, "invalid-request", f"The header {header}: {detail}", errors)


def test_a_weak_tag_is_not_strong_enough(client: TestClient) -> None:
    tag = put(client, 1)
    assert client.put(CHAMPION, json={"version": 2}, headers={"If-Match": f"W/{tag}"}).status_code == 412


@pytest.mark.parametrize(
    ("sent", "pointer"),
    [
        ({}, "/version"),
        ({"version": 0}, "/version"),
        ({"version": True}, "/version"),
        ({"version": 1.5}, "/version"),
        ({"version": "1"}, "/version"),
        ({"version": 2**31}, "/version"),
        ({"version": 1, "reason": "x" * (MAX_REASON_LENGTH + 1)}, "/reason"),
        ({"version": 1, "reason": 7}, "/reason"),
        ({"version": 1, "why": "so"}, "/why"),
    ],
)
def test_a_move_that_makes_no_sense_is_refused_at_its_place(
    client: TestClient, sent: dict[str, object], pointer: str
) -> None:
    response = client.put(CHAMPION, json=sent)
    assert (response.status_code, response.json()["type"]) == (422, "/problems/invalid-request")
    assert {error["pointer"] for error in response.json()["errors"]} == {pointer}
    assert client.get(ALIASES).json()["items"] == []


@pytest.mark.parametrize(("version", "missing"), [(9, "has no version 9"), ("best", "has no alias 'best'")])
def test_a_version_that_is_not_there_is_404_at_its_place(client: TestClient, version: int | str, missing: str) -> None:
    response = client.put(CHAMPION, json={"version": version})
    assert response.status_code == 404
    assert missing in response.json()["detail"]
    assert response.json()["errors"][0]["pointer"] == "/version"


def test_a_model_that_is_not_there_is_404_without_a_place(client: TestClient) -> None:
    response = client.put("/v1/models/nobody/aliases/champion", json={"version": 1})
    assert_problem(response, "not-found", "There is no model 'nobody'.")


@pytest.mark.parametrize("alias", ["7", "7up", "-x", "a%40b", "a%20b", "a" * 64, "%C3%A9"])
def test_a_name_that_can_be_no_alias_is_refused(client: TestClient, alias: str) -> None:
    response = client.put(f"{ALIASES}/{alias}", json={"version": 1})
    assert (response.status_code, response.json()["type"]) == (422, "/problems/invalid-request")
    assert "Expected a letter" in response.json()["detail"]


def test_what_an_alias_points_to_can_not_be_deleted(client: TestClient) -> None:
    put(client, 2)
    for path in ("/v1/models/small/versions/2", "/v1/models/small/versions/champion"):
        response = client.delete(path)
        assert (response.status_code, response.json()["type"]) == (409, "/problems/in-use")
    assert client.delete(CHAMPION).status_code == 204
    assert client.delete("/v1/models/small/versions/2").status_code == 204


def test_its_history_stays_when_it_is_removed(client: TestClient) -> None:
    put(client, 1)
    put(client, 2)
    assert client.delete(f"{CHAMPION}?reason=Nobody asks for it.").status_code == 204
    assert client.get(CHAMPION).status_code == 404
    first = client.get(f"{CHAMPION}/history?limit=2").json()
    rest = client.get(f"{CHAMPION}/history?limit=2&after={first['after']}").json()
    assert [*first["items"], *rest["items"]] == [
        {"number": number, "at": "2024-05-01T12:00:00Z", "by": OWNER, "from_version": a, "to_version": b, "reason": why}
        for number, a, b, why in ((3, 2, None, "Nobody asks for it."), (2, 1, 2, None), (1, None, 1, None))
    ]
    assert (rest["has_more"], rest["after"]) == (False, None)


def test_a_reason_is_not_endless(client: TestClient) -> None:
    put(client, 1)
    response = client.delete(f"{CHAMPION}?reason={'x' * (MAX_REASON_LENGTH + 1)}")
    assert (response.status_code, response.json()["errors"][0]["parameter"]) == (422, "reason")


def test_the_moves_of_what_is_no_alias_are_refused(client: TestClient) -> None:
    response = client.get("/v1/models/small/aliases/7th/history")
    assert response.status_code == 422
    assert response.json()["errors"][0]["parameter"] == "alias"
