import json
from pathlib import Path

import httpx
import pytest

from app.formats import FORMATS
from relevance_bayes.client import ClientError
from relevance_bayes.client.responses import Decision
from tests.library.client.conftest import Connected, Handler

NOW = "2026-01-02T03:04:05Z"
DATASET = {"id": "d1", "name": "rows", "created_at": NOW, "rows": 2, "digest": "00", "columns": []}


def response(document: object) -> Handler:
    return lambda _: httpx.Response(200, json=document)


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        *((f"rows{suffix}", one.media_type) for one in FORMATS for suffix in one.suffixes),
        ("rows.TSV", "text/csv"),
        ("rows", "text/csv"),
    ],
)
def test_a_file_is_sent_as_what_its_name_states(
    connected: Connected, tmp_path: Path, name: str, media_type: str
) -> None:
    file = tmp_path / name
    content = b"x,y\n1,2\n" * 100_000  # more than one chunk
    file.write_bytes(content)
    pair = connected({"POST /v1/datasets": response(DATASET)})
    assert pair.client.upload(file).id == "d1"
    (request,) = pair.service.requested
    assert request.headers["Content-Type"] == media_type
    assert request.headers["Content-Length"] == str(len(content))
    assert request.url.params["name"] == "rows"
    assert request.content == content


def test_nan_is_sent_as_a_gap(connected: Connected) -> None:
    pair = connected({"POST /v1/models/m/predict": response({"model": "m", "version": 1, "predictions": []})})
    pair.client.predict("m", {"columns": {"x": [1.0, float("nan")]}}, interval=0.9)
    assert json.loads(pair.service.requested[0].content) == {"columns": {"x": [1.0, None]}, "interval": 0.9}


def test_priors_keep_the_type_of_their_labels(connected: Connected) -> None:
    given = {"label": True, "probabilities": [], "decision": {"label": None, "expected_cost": 0.25}}
    pair = connected({"POST /v1/models/m/predict": response({"model": "m", "version": 1, "predictions": [given]})})
    costs = ((0, 1), (5, 0))
    reported = pair.client.predict(
        "m", {"rows": []}, class_priors={False: 0.9, True: 0.1}, costs=costs, reject_cost=0.25
    ).predictions[0]
    assert reported.decision == Decision(None, 0.25)
    assert json.loads(pair.service.requested[0].content) == {
        "rows": [],
        "class_priors": [{"label": False, "prior": 0.9}, {"label": True, "prior": 0.1}],
        "costs": [[0, 1], [5, 0]],
        "reject_cost": 0.25,
    }


def test_a_version_that_is_named_is_the_one_requested(connected: Connected) -> None:
    given = {"model": "m", "version": 3, "predictions": [{"label": True, "probabilities": []}]}
    pair = connected({"POST /v1/models/m/versions/3/predict": response(given)})
    assert pair.client.predict("m", {"rows": [{"x": 1}]}, version=3).predictions[0].label is True


def test_a_list_is_followed_to_its_end(connected: Connected) -> None:
    def page(request: httpx.Request) -> httpx.Response:
        after = request.url.params.get("after")
        item = {**DATASET, "id": "d2" if after else "d1"}
        return httpx.Response(200, json={"items": [item], "has_more": not after, "after": None if after else "k&1"})

    pair = connected({"GET /v1/datasets": page})
    assert [dataset.id for dataset in pair.client.datasets()] == ["d1", "d2"]
    assert pair.service.requested[1].url.params["after"] == "k&1"


def test_a_name_cannot_lead_to_another_path(connected: Connected) -> None:
    pair = connected({"GET /v1/models/..%2Fdatasets%3Fx": lambda _: httpx.Response(404, json={})})
    with pytest.raises(ClientError, match="404"):
        pair.client.model("../datasets?x")
