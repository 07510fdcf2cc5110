"""Descriptions, tags, lineage, and what a cache may keep, over HTTP."""

from dataclasses import replace
from uuid import UUID

import pytest
from starlette.testclient import TestClient

from app.identity import BUILT_IN_OWNER as OWNER
from app.registry.records import MAX_DESCRIPTION_LENGTH, MAX_TAGS, MAX_VALUE_LENGTH
from tests.applications import DATASET, SUBMIT, SmallParts
from tests.problems import assert_problem
from tests.small_models import small_version

MODEL = "/v1/models/small"
VERSION = f"{MODEL}/versions/1"
THINGS = pytest.mark.parametrize("path", [MODEL, VERSION])
IMMUTABLE = "private, max-age=86400, immutable"


@THINGS
def test_what_is_stated_is_merged_into_what_was_stated(client: TestClient, path: str) -> None:
    before = client.get(path).json()
    steps = [
        (
            {"description": "Sales.", "tags": {"stage": "live", "team": "ice"}},
            "Sales.",
            {"stage": "live", "team": "ice"},
        ),
        ({"tags": {"stage": None, "site": "pier"}}, "Sales.", {"site": "pier", "team": "ice"}),
        ({"description": None}, None, {"site": "pier", "team": "ice"}),
        ({}, None, {"site": "pier", "team": "ice"}),
        ({"tags": None}, None, {}),
    ]
    for patch, description, tags in steps:
        response = client.patch(path, json=patch)
        assert response.status_code == 200, response.text
        assert response.json() == {**before, "description": description, "tags": tags}
        looked = client.get(path)
        assert (looked.json(), looked.headers["ETag"]) == (response.json(), response.headers["ETag"])


def test_a_merge_patch_may_state_that_it_is_one(client: TestClient) -> None:
    headers = {"Content-Type": "application/merge-patch+json"}
    assert client.patch(MODEL, content=b'{"description":"x"}', headers=headers).json()["description"] == "x"
    refused = client.patch(MODEL, content=b"{}", headers={"Content-Type": "text/plain"})
    assert refused.status_code == 415


@THINGS
@pytest.mark.parametrize(
    ("sent", "pointer"),
    [
        ({"description": 7}, "/description"),
        ({"description": "x" * (MAX_DESCRIPTION_LENGTH + 1)}, "/description"),
        ({"tags": []}, "/tags"),
        ({"tags": {"a": 1}}, "/tags/a"),
        ({"tags": {"a": "x" * (MAX_VALUE_LENGTH + 1)}}, "/tags/a"),
        ({"tags": {f"t{number}": "" for number in range(MAX_TAGS + 1)}}, "/tags"),
        ({"label": "x"}, "/label"),
    ],
)
def test_what_can_not_be_stated_is_refused_at_its_place(
    client: TestClient, path: str, sent: dict[str, object], pointer: str
) -> None:
    response = client.patch(path, json=sent)
    assert (response.status_code, response.json()["type"]) == (422, "/problems/invalid-request")
    assert [error["pointer"] for error in response.json()["errors"]] == [pointer]
    assert client.get(path).json()["tags"] == {}


@pytest.mark.parametrize("name", ["", "a:b", "1a", "a" * 64, "a b", "é"])
def test_a_tag_has_a_name_that_can_be_requested(client: TestClient, name: str) -> None:
    response = client.patch(MODEL, json={"tags": {name: "x"}})
    assert (response.status_code, len(response.json()["errors"])) == (422, 1)


@THINGS
def test_what_somebody_else_stated_meanwhile_is_not_lost(client: TestClient, path: str) -> None:
    seen = client.get(path).headers["ETag"]
    assert client.patch(path, json={"description": "Mine."}, headers={"If-Match": seen}).status_code == 200
    late = client.patch(path, json={"description": "Yours."}, headers={"If-Match": seen})
    assert (late.status_code, late.json()["type"]) == (412, "/problems/precondition-failed")
    assert client.get(path).json()["description"] == "Mine."


@pytest.mark.parametrize("path", ["/v1/models/nobody", "/v1/models/nobody/versions/1", f"{MODEL}/versions/7"])
def test_of_what_is_not_there_nothing_can_be_stated(client: TestClient, path: str) -> None:
    assert client.patch(path, json={"description": "x"}).json()["type"] == "/problems/not-found"


def test_lists_are_cut_down_to_what_has_the_tags(client: TestClient, parts: SmallParts) -> None:
    parts.stored.put_version(OWNER, small_version(), number=2)
    client.patch(MODEL, json={"tags": {"stage": "live", "site": "a:b"}})
    client.patch(VERSION, json={"tags": {"stage": "live"}})

    def names(query: str) -> list[str]:
        return [item["name"] for item in client.get(f"/v1/models?{query}").json()["items"]]

    assert sorted(names("")) == ["classes", "small"]
    assert names("tag=stage:live") == ["small"]
    assert names("tag=stage:live&tag=site:a:b") == ["small"]
    assert names("tag=stage:live&tag=site:a") == []
    assert [item["version"] for item in client.get(f"{MODEL}/versions?tag=stage:live").json()["items"]] == [1]


@pytest.mark.parametrize("query", ["tag=stage", "tag=a:1&tag=a:2"])
def test_a_tag_that_is_none_is_refused(client: TestClient, query: str) -> None:
    given = "Expected NAME:VALUE, each name once, as in ?tag=stage:live&tag=team:ice."
    errors = [{"parameter": "tag", "detail": given}]
    assert_problem(client.get(f"/v1/models?{query}"), "invalid-request", f"The parameter 'tag': {given}", errors)
    many = "&".join(f"tag=t{number}:x" for number in range(11))
    assert client.get(f"/v1/models?{many}").status_code == 422


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        (MODEL, "private, no-cache"),
        (VERSION, "private, no-cache"),
        (f"{VERSION}/relevance-vectors", IMMUTABLE),
        (f"{VERSION}/relevance-vectors?sort=weight&limit=1", IMMUTABLE),
        (f"{MODEL}/versions/champion/relevance-vectors", "private, no-cache"),
        (f"{MODEL}/aliases/champion", "private, no-cache"),
        (f"/v1/datasets/{DATASET.id}", IMMUTABLE),
    ],
)
def test_what_is_known_already_is_not_sent_again(client: TestClient, path: str, kept: str) -> None:
    client.put(f"{MODEL}/aliases/champion", json={"version": 1})
    first = client.get(path)
    tag = first.headers["ETag"]
    assert tag.startswith('"')
    assert first.headers["Cache-Control"] == kept
    for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        again = client.get(path, headers={"If-None-Match": known})
        assert (again.status_code, again.content) == (304, b""), known
        assert (again.headers["ETag"], again.headers["Cache-Control"]) == (tag, kept)
    for other in ('"other"', "nonsense", ""):
        assert client.get(path, headers={"If-None-Match": other}).content == first.content


def test_a_tag_changes_with_what_may_change(client: TestClient, parts: SmallParts) -> None:
    tags = {client.get(MODEL).headers["ETag"]}
    parts.stored.put_version(OWNER, small_version(), number=2)
    tags.add(client.get(MODEL).headers["ETag"])
    client.put(f"{MODEL}/aliases/champion", json={"version": 1})
    tags.add(client.get(MODEL).headers["ETag"])
    client.patch(MODEL, json={"tags": {"a": "b"}})
    tags.add(client.get(MODEL).headers["ETag"])
    assert len(tags) == 4
    before = client.get(f"{MODEL}/versions/champion").headers["ETag"]
    assert before == client.get(VERSION).headers["ETag"]
    client.put(f"{MODEL}/aliases/champion", json={"version": 2})
    assert client.get(f"{MODEL}/versions/champion", headers={"If-None-Match": before}).status_code == 200
    assert client.get(VERSION, headers={"If-None-Match": before}).status_code == 304


def test_a_version_reports_where_it_comes_from(client: TestClient, parts: SmallParts) -> None:
    sent = client.post("/v1/training-jobs", json={**SUBMIT, "model": "small", "seed": 3}).json()
    job = parts.jobs.get(OWNER, UUID(sent["id"]))
    parts.stored.put_job(replace(job, state="succeeded", model="small", version=2))
    parts.stored.put_version(OWNER, small_version(), number=2, job_id=job.id)
    reported = client.get(f"{MODEL}/versions/2/lineage")
    lineage = reported.json()
    request = lineage.pop("request")
    assert lineage == {
        "model": "small",
        "version": 2,
        "created_at": "2024-05-01T12:00:00Z",
        "dataset": {"id": str(DATASET.id), "digest": "0" * 64, "name": "points.csv", "exists": True},
        "job_id": sent["id"],
        "imported": None,
        "parent": {"version": 1, "exists": True},
        "software_version": "0.1.0",
    }
    assert {name: request[name] for name in ("dataset_id", "target", "inputs", "seed", "model", "basis")} == {
        "dataset_id": str(DATASET.id),
        "target": "y",
        "inputs": ["x", "colour"],
        "seed": 3,
        "model": "small",
        "basis": None,
    }
    assert reported.headers["Cache-Control"] == "private, no-cache"
    client.delete(f"{MODEL}/versions/1")
    client.delete(f"/v1/datasets/{DATASET.id}")
    later = client.get(f"{MODEL}/versions/2/lineage").json()
    assert later["parent"] == {"version": 1, "exists": False}
    assert later["dataset"] == {"id": str(DATASET.id), "digest": "0" * 64, "name": None, "exists": False}
