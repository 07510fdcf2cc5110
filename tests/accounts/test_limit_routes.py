"""Limits over HTTP: an owner sees its own, the operator sets those of all."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from app.accounts.authenticator import KeyAuthenticator
from app.http.openapi import Json
from app.main import make_application
from app.settings import Settings
from relevance_bayes.records.accounts import LIMIT_NAMES, KeyScope
from tests.applications import LIMITS, SmallParts
from tests.problems import assert_problem

NO_LIMITS = dict.fromkeys(LIMIT_NAMES)
NO_USE = {"datasets": 0, "dataset_bytes": 0, "models": 0, "unfinished_jobs": 0, "training_seconds_per_day": 0.0}


@pytest.fixture
def locked(parts: SmallParts) -> Iterator[TestClient]:
    """A client of an application that needs keys."""
    authenticator = KeyAuthenticator(parts.transaction, needs_keys=True)
    with TestClient(
        make_application(parts, LIMITS, authenticator=authenticator), base_url="http://localhost"
    ) as client:
        yield client


def key(parts: SmallParts, *scopes: KeyScope, owner: str = "local") -> dict[str, str]:
    return {"Authorization": f"Bearer {parts.keys.create(owner, 'of a test', scopes=scopes)[1]}"}


def test_limits_are_set_for_an_owner_seen_and_reset(client: TestClient) -> None:
    path = "/v1/limits/acme"
    assert client.get(path).json() == {"owner": "acme", "limits": NO_LIMITS, "own": [], "use": NO_USE}
    limits: dict[str, Json] = {"requests_per_second": 50, "models": None, "datasets": 0}
    put = client.put(path, json=limits)
    assert put.status_code == 200
    own = ["requests_per_second", "datasets", "models"]
    expected = {"owner": "acme", "limits": {**NO_LIMITS, **limits}, "own": own, "use": NO_USE}
    assert put.json() == client.get(path).json() == expected
    assert client.put(path, json={"models": 3}).json()["limits"] == {**NO_LIMITS, "models": 3}
    assert client.delete(path).status_code == 204
    assert client.get(path).json()["own"] == []


def test_the_audit_has_a_limit_that_is_set_to_none(client: TestClient) -> None:
    client.put("/v1/limits/local", json={"models": None, "datasets": 7})
    client.delete("/v1/limits/local")
    reset, put = client.get("/v1/audit?action=limits.updated").json()["items"]
    assert (put["details"], reset["details"]) == ({"models": "none", "datasets": 7}, {})


def test_own_limits_have_what_is_used(client: TestClient) -> None:
    found = client.get("/v1/limits").json()
    assert found["owner"] == "local"
    assert found["use"] == {**NO_USE, "datasets": 1, "models": 2}


def test_names_of_owners_may_have_slashes(client: TestClient) -> None:
    assert client.put("/v1/limits/https%3A//issuer/users/7", json={"models": 3}).status_code == 200
    assert client.get("/v1/limits/https://issuer/users/7").json()["owner"] == "https://issuer/users/7"
    assert_problem(client.get("/v1/limits/"), "not-found", "There is no owner ''.")


@pytest.mark.parametrize("body", [{"requests_per_second": 0}, {"models": -1}, {"models": "3"}, {"wishes": 3}])
def test_invalid_limits_are_refused(client: TestClient, body: dict[str, Json]) -> None:
    assert client.put("/v1/limits/acme", json=body).status_code == 422
    assert client.get("/v1/limits/acme").json()["own"] == []
    assert client.put(f"/v1/limits/{'x' * 101}", json={"models": 3}).status_code == 422


def test_the_operator_sets_limits_and_an_owner_sees_its_own_alone(parts: SmallParts, locked: TestClient) -> None:
    operator, reader = key(parts, "admin"), key(parts, "read", owner="acme")
    admin = key(parts, "admin", owner="acme")
    assert locked.put("/v1/limits/acme", json={"models": 3}, headers=operator).status_code == 200
    for headers in (reader, admin):
        found = locked.get("/v1/limits", headers=headers).json()
        assert (found["owner"], found["limits"]["models"]) == ("acme", 3)
    for owner in ("acme", "local", "bolt"):
        path = f"/v1/limits/{owner}"
        assert locked.get(path, headers=reader).status_code == 403
        detail = f"There is no owner {owner!r}."
        assert_problem(locked.get(path, headers=admin), "not-found", detail)
        assert_problem(locked.put(path, json={"models": 9}, headers=admin), "not-found", detail)
        assert_problem(locked.delete(path, headers=admin), "not-found", detail)
    assert locked.get("/v1/limits/acme", headers=operator).json()["limits"]["models"] == 3


def test_quotas_are_problems_of_their_own(client: TestClient) -> None:
    client.put("/v1/limits/local", json={"datasets": 1, "training_seconds_per_day": 0})
    csv = {"Content-Type": "text/csv"}
    response = client.post("/v1/datasets?name=more", content=b"x,y\n1,2\n2,3\n", headers=csv)
    assert_problem(
        response, "quota-exceeded", "Expected at most 1 datasets of this owner, got more: delete some first."
    )
    dataset = client.get("/v1/datasets").json()["items"][0]["id"]
    response = client.post("/v1/training-jobs", json={"dataset_id": dataset, "target": "y", "inputs": ["x"]})
    assert_problem(
        response,
        "training-time-exceeded",
        "Training jobs of this owner have run for 0 seconds since 00:00 UTC, the maximum of a day: try again tomorrow.",
    )
    assert 0 < int(response.headers["Retry-After"]) <= 86_400


def test_limits_of_the_settings_are_those_of_every_owner() -> None:
    settings = Settings(
        owner_requests_per_second=1,
        owner_rows_per_second=2,
        owner_datasets=3,
        owner_dataset_bytes=4,
        owner_models=5,
        max_queued_jobs=6,
        owner_training_seconds_per_day=7,
    )
    assert tuple(vars(settings.owner_limits).values()) == (1, 2, 3, 4, 5, 6, 7)
