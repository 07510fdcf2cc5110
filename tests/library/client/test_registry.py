import json

import httpx
import pytest

from relevance_bayes.client import ClientError
from relevance_bayes.client.registry import AnnotationChange
from relevance_bayes.client.responses import Json
from tests.library.client.conftest import Connected

NOW = "2026-01-02T03:04:05Z"
MODEL = {
    "name": "small",
    "created_at": NOW,
    "task": "regression",
    "target": "y",
    "inputs": ["x"],
    "versions": 1,
    "latest": 1,
    "aliases": {"champion": 1},
    "description": "Sales.",
    "tags": {"stage": "live"},
}
LINEAGE = {
    "model": "small",
    "version": 2,
    "created_at": NOW,
    "dataset": {"id": "d", "digest": "0", "name": None, "exists": False},
    "job_id": "j",
    "request": {"target": "y", "holdout": 0.2},
    "parent": {"version": 1, "exists": True},
    "software_version": "0.1.0",
}

STATISTICS = {
    "model": "small",
    "version": 2,
    "since": NOW,
    "last_request_at": NOW,
    "requests": 1200,
    "errors": 200,
    "rows": 4000,
    "outside_support": {"rows": 30, "of": 4000, "share": 0.0075},
    "latency": {
        "seconds": 0.5,
        "buckets": [
            {"upper_bound": 0.0005, "requests": 999},
            {"upper_bound": 0.001, "requests": 0},
            {"upper_bound": None, "requests": 1},
        ],
    },
}


def test_what_is_not_stated_is_not_sent(connected: Connected) -> None:
    pair = connected({"PATCH /v1/models/small": lambda _: httpx.Response(200, json=MODEL)})
    registry = pair.client.registry
    assert registry.annotate("small", AnnotationChange("Sales.", {"stage": "live", "old": None})).tags == {
        "stage": "live"
    }
    registry.annotate("small", AnnotationChange(description=""), if_match='"t"')
    registry.annotate("small", AnnotationChange())
    sent = [(json.loads(request.content), request.headers.get("If-Match")) for request in pair.service.requested]
    assert sent == [
        ({"description": "Sales.", "tags": {"stage": "live", "old": None}}, None),
        ({"description": None}, '"t"'),
        ({}, None),
    ]


def test_models_and_versions_are_requested_by_tags(connected: Connected) -> None:
    empty = {"items": [], "has_more": False, "after": None}
    responses = {
        "GET /v1/models": lambda _: httpx.Response(200, json={**empty, "items": [MODEL]}),
        "GET /v1/models/small/versions": lambda _: httpx.Response(200, json=empty),
    }
    pair = connected(responses)
    assert [model.aliases for model in pair.client.models(tags={"a": "1", "b": "x:y"})] == [{"champion": 1}]
    assert list(pair.client.versions("small", tags={"a": "1"})) == []
    assert list(pair.client.versions("small")) == []
    assert [request.url.params.get_list("tag") for request in pair.service.requested] == [["a:1", "b:x:y"], ["a:1"], []]


def test_statistics_are_those_of_one_version(connected: Connected) -> None:
    pair = connected(
        {"GET /v1/models/small/versions/champion/statistics": lambda _: httpx.Response(200, json=STATISTICS)}
    )
    reported = pair.client.registry.statistics("small@champion")
    assert (reported.requests, reported.latency.buckets[-1].upper_bound, reported.latency.buckets[-1].requests) == (
        1200,
        None,
        1,
    )
    assert reported.outside_support is not None
    assert reported.outside_support.share == 0.0075
    with pytest.raises(ClientError, match="Expected a version of"):
        pair.client.registry.statistics("small")


def test_a_lineage_is_that_of_one_version(connected: Connected) -> None:
    responses = {
        f"GET /v1/models/small/versions/{one}/lineage": lambda _: httpx.Response(200, json=LINEAGE)
        for one in ("champion", "2")
    }
    pair = connected(responses)
    registry = pair.client.registry
    assert registry.lineage("small@champion") == registry.lineage("small", 2)
    assert registry.lineage("small", 2).request == {"target": "y", "holdout": 0.2}
    with pytest.raises(ClientError, match="Expected a version of"):
        registry.lineage("small")
    with pytest.raises(ClientError, match="Expected a version of"):
        registry.annotate_version("small", AnnotationChange("x"))


def test_a_profile_has_points_with_bands(connected: Connected) -> None:
    band = {"mean": 1.5, "sd": 0.5, "lower": 0.5, "upper": 2.5}
    point = {"values": [20.0], "mean": 1.5, "probabilities": [], "band": band, "individual": [1.0, 2.0]}
    shown = {"name": "x", "kind": "number", "values": [20.0], "histogram": None}
    rest = {"rows": 2, "rows_from": "request", "band": "mean", "interval": 0.95}
    response = {"model": "small", "version": 2, "inputs": [shown], **rest, "points": [point]}
    pair = connected({"POST /v1/models/small/versions/2/profile": lambda _: httpx.Response(200, json=response)})
    table: dict[str, Json] = {"columns": {"x": [1, 2]}, "individual": 2}
    found = pair.client.registry.profile("small@2", ["x"], table=table)
    assert json.loads(pair.service.requested[0].content) == {"inputs": ["x"], **table}
    assert (found.band, found.points[0].values, found.points[0].individual) == ("mean", (20.0,), (1.0, 2.0))
    assert found.points[0].band is not None
    assert found.points[0].band.upper == 2.5
