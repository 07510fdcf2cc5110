"""Lists by age over HTTP: what all of them have in common."""

import pytest
from starlette.testclient import TestClient

from app.identity import BUILT_IN_OWNER as OWNER
from tests.applications import DATASET, SUBMIT, SmallParts
from tests.small_models import small_version

VERSIONS = "/v1/models/small/versions"
HISTORY = "/v1/models/small/aliases/champion/history"
JOBS = ("/v1/training-jobs", "/v1/evaluations", "/v1/batch-predictions", "/v1/promotions")
LISTS = ("/v1/datasets", "/v1/models", VERSIONS, HISTORY, f"{VERSIONS}/1/evaluations", "/v1/webhooks", *JOBS)


@pytest.fixture
def client(client: TestClient, parts: SmallParts) -> TestClient:
    """A client of two of everything."""
    parts.stored.put_version(OWNER, small_version(), number=2)
    for version in (1, 2):
        client.put("/v1/models/small/aliases/champion", json={"version": version}).raise_for_status()
        client.post("/v1/webhooks", json={"url": f"https://example.org/{version}"}).raise_for_status()
        client.post("/v1/training-jobs", json=SUBMIT).raise_for_status()
    return client


def listed(client: TestClient, path: str, query: str) -> list[object]:
    """The items of one page."""
    items: list[object] = client.get(f"{path}?{query}").raise_for_status().json()["items"]
    return items


def test_a_list_comes_from_either_end(client: TestClient) -> None:
    for path in ("/v1/models", VERSIONS, HISTORY, "/v1/webhooks", "/v1/training-jobs"):
        newest = listed(client, path, "order=newest")
        assert len(newest) == 2, path
        assert listed(client, path, "") == newest
        assert listed(client, path, "order=oldest") == newest[::-1]
        first = client.get(f"{path}?order=oldest&limit=1").json()
        assert [*first["items"], *listed(client, path, f"order=oldest&after={first['after']}")] == newest[::-1]


def refused(client: TestClient, path: str, query: str) -> tuple[str, str]:
    """The parameter that a list does not have, and its error."""
    response = client.get(f"{path}?{query}")
    assert response.status_code == 422, (path, query)
    (error,) = response.json()["errors"]
    return error["parameter"], error["detail"]


def test_parameters_that_a_list_does_not_have_are_refused(client: TestClient) -> None:
    for path in LISTS:
        maximum = 200 if path == "/v1/datasets" else 1000
        assert refused(client, path, "stat=failed") == ("stat", "The parameter is unknown.")
        assert refused(client, path, "limit=0") == ("limit", "Should be greater than or equal to 1.")
        assert refused(client, path, f"limit={maximum + 1}") == ("limit", f"Should be less than or equal to {maximum}.")
        assert refused(client, path, "order=best") == ("order", "Should be 'newest' or 'oldest'.")


def test_a_filter_that_makes_no_sense_is_refused(client: TestClient) -> None:
    for path in JOBS:
        for query in ("state=lost", "dataset_id=7", "task=regression"):
            assert refused(client, path, query)[0] == query.partition("=")[0]
    assert refused(client, "/v1/models", "task=alchemy")[0] == "task"


def test_filters_keep_what_they_name(client: TestClient) -> None:
    for path, query, count in (
        ("/v1/datasets", f"name={DATASET.name}", 1),
        ("/v1/datasets", "name=others", 0),
        ("/v1/models", "task=regression", 1),
        ("/v1/models", "task=image", 0),
        ("/v1/training-jobs", f"dataset_id={DATASET.id}", 2),
        ("/v1/training-jobs", "dataset_id=00000000-0000-7000-8000-000000000000", 0),
        ("/v1/training-jobs", "state=queued", 2),
        ("/v1/training-jobs", "state=failed", 0),
        ("/v1/training-jobs", "model=nobodys", 0),
    ):
        assert len(listed(client, path, query)) == count, (path, query)
