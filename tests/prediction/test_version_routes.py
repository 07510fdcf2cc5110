"""Counts of the requests of versions, on every path."""

import json
from collections.abc import Iterator, Mapping

import pytest
from starlette.testclient import TestClient

from app.identity import BUILT_IN_OWNER as OWNER
from app.main import make_application
from app.prediction.usage_counts import BOUNDS
from relevance_bayes.core.priors import GaussianProcess
from tests.applications import LIMITS, SmallParts
from tests.small_models import small_version

PATH = "/v1/models/small/versions/1"
NEAR, FAR = {"x": 1.0, "colour": "blue"}, {"x": 900.0, "colour": "red"}
TENSORS = [
    {"name": "x", "datatype": "FP64", "shape": [1], "data": [900.0]},
    {"name": "colour", "datatype": "BYTES", "shape": [1], "data": ["red"]},
]
JSON = {"Content-Type": "application/json"}
NDJSON = {"Content-Type": "application/x-ndjson", "Accept": "application/x-ndjson"}

Json = dict[str, object]


@pytest.fixture
def client(parts: SmallParts) -> Iterator[TestClient]:
    """Of `small` the second version knows how far the data speak; the first is called `champion`."""
    parts.stored.put_version(OWNER, small_version(prior=GaussianProcess()), number=2)
    parts.aliases.move(OWNER, "small", "champion", to=1)
    with TestClient(
        make_application(parts, LIMITS), raise_server_exceptions=False, base_url="http://localhost"
    ) as client:
        yield client


def reported(client: TestClient, path: str = PATH) -> Json:
    response = client.get(f"{path}/statistics")
    assert response.status_code == 200, response.text
    statistics: Json = response.json()
    return statistics


def figures(client: TestClient, path: str = PATH) -> tuple[object, object, object]:
    statistics = reported(client, path)
    return statistics["requests"], statistics["errors"], statistics["rows"]


def test_a_version_that_nobody_requested_has_counts_of_nothing(client: TestClient) -> None:
    statistics = reported(client)
    assert (statistics["model"], statistics["version"], figures(client)) == ("small", 1, (0, 0, 0))
    assert (statistics["last_request_at"], statistics["outside_support"]) == (None, None)
    latency = statistics["latency"]
    assert isinstance(latency, dict)
    assert [bucket["upper_bound"] for bucket in latency["buckets"]] == [*BOUNDS, None]


@pytest.mark.parametrize(
    ("path", "body", "headers"),
    [
        ("/v1/models/small/versions/1/predict", json.dumps({"rows": [NEAR, FAR]}), JSON),
        ("/v1/models/small@champion/predict", json.dumps({"rows": [NEAR, FAR]}), JSON | {"Accept": "text/csv"}),
        ("/v1/models/small/versions/champion/predict", "x,colour\n1,red\n2,blue\n", {"Content-Type": "text/csv"}),
        ("/v1/models/small/versions/1/predict", "\n".join(map(json.dumps, (NEAR, FAR))), NDJSON),
        ("/v2/models/small/versions/1/infer", json.dumps({"inputs": TENSORS}), {}),
    ],
)
def test_every_path_counts(client: TestClient, path: str, body: str, headers: Mapping[str, str]) -> None:
    assert client.post(path, content=body, headers=headers).status_code == 200
    rows = 1 if path.endswith("infer") else 2
    assert figures(client) == (1, 0, rows)
    statistics = reported(client)
    latency = statistics["latency"]
    assert isinstance(latency, dict)
    assert sum(bucket["requests"] for bucket in latency["buckets"]) == 1
    assert latency["seconds"] > 0.0
    assert str(statistics["last_request_at"]) >= str(statistics["since"])
    assert figures(client, "/v1/models/small/versions/2") == (0, 0, 0)


def test_what_is_refused_is_an_error_without_rows(client: TestClient) -> None:
    bad = {"x": 1e300, "colour": "red"}
    assert client.post(f"{PATH}/predict", json={"rows": [NEAR, bad]}).status_code == 422
    assert client.post(f"{PATH}/predict", content=b"{", headers=JSON).status_code == 400
    assert client.post(f"{PATH}/predict", json={"rows": [NEAR] * 6}).status_code == 413
    assert client.post("/v2/models/small/versions/1/infer", json={"inputs": []}).status_code == 400
    ndjson = client.post(f"{PATH}/predict", content=b"{}\n", headers=NDJSON)
    assert ndjson.status_code == 422
    assert figures(client)[1:] == (5, 0)
    assert client.post(f"{PATH}/predict", json={"rows": [NEAR, bad], "on_error": "per_row"}).status_code == 200
    assert figures(client) == (6, 5, 2)


def test_rows_far_from_the_data_are_outside(client: TestClient) -> None:
    path = "/v1/models/small/versions/2"
    assert client.post(f"{path}/predict", json={"rows": [NEAR, FAR]}).status_code == 200
    assert client.post("/v2/models/small/infer", json={"inputs": TENSORS}).status_code == 200
    assert reported(client, path)["outside_support"] == {"rows": 2, "of": 3, "share": 2 / 3}
    client.post(f"{PATH}/predict", json={"rows": [FAR]})
    assert reported(client)["outside_support"] is None


def test_the_protocol_has_the_same_counts(client: TestClient) -> None:
    client.post("/v2/models/small/versions/1/infer", json={"inputs": TENSORS})
    client.post("/v2/models/small/versions/1/infer", json={"inputs": []})
    (stats,) = client.get("/v2/models/small/versions/champion/stats").json()["model_stats"]
    durations = stats.pop("inference_stats")
    assert stats.pop("last_inference") > 1.7e12
    assert stats == {"name": "small", "version": "1", "inference_count": 1, "execution_count": 1}
    assert (durations["success"]["count"], durations["fail"]["count"], durations["queue"]) == (
        1,
        1,
        {"count": 0, "ns": 0},
    )
    assert durations["success"]["ns"] > 0
    assert client.get("/v2/models/small@champion/stats").json()["model_stats"][0]["inference_count"] == 1


def test_a_models_statistics_are_those_of_its_versions(client: TestClient) -> None:
    client.post("/v2/models/small/infer", json={"inputs": TENSORS})
    reported = client.get("/v2/models/small/stats").json()["model_stats"]
    assert [(one["version"], one["inference_count"], one["last_inference"] > 0) for one in reported] == [
        ("2", 1, True),
        ("1", 0, False),
    ]
    every = client.get("/v2/models/stats").json()["model_stats"]
    assert [(one["name"], one["version"]) for one in every] == [("small", "2")]


@pytest.mark.parametrize("path", ["/v1/models/small/versions/7/statistics", "/v1/models/none/versions/1/statistics"])
def test_what_is_not_there_has_no_statistics(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404
    assert client.get("/v2/models/none/stats").json()["error"] == "There is no model 'none'."
    assert client.get("/v2/models/small/versions/7/stats").status_code == 404
