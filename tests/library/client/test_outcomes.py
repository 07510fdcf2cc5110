import json

import httpx

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
    "aliases": {},
    "description": None,
    "tags": {},
    "record": 0.5,
}
BUCKET = {
    "version": 1,
    "start": NOW,
    "outcomes": 2,
    "log_score": -1.0,
    "expected_log_score": -0.9,
    "excluded": 0,
    "coverage": [{"percent": 95, "coverage": 0.5}],
    "accuracy": None,
    "confidence": None,
}
ALARM = {
    "id": "01a20411-6a2e-7c58-9f0b-5b7c1a2d3e4f",
    "model": "small",
    "version": 1,
    "statistic": "coverage",
    "direction": "lower",
    "raised_at": NOW,
    "since": NOW,
    "outcomes": 40,
    "observed": 0.5,
    "expected": 0.95,
    "cleared_at": None,
}
RECEIVED = {"recorded": 1, "repeated": 0, "conflicting": 0, "unknown": 1, "unknown_ids": ["b"]}


def test_outcomes_are_sent_by_row_id_and_read_over_time(connected: Connected) -> None:
    def page(item: object) -> httpx.Response:
        return httpx.Response(200, json={"items": [item], "has_more": False, "after": None})

    pair = connected(
        {
            "PATCH /v1/models/small": lambda _: httpx.Response(200, json=MODEL),
            "POST /v1/models/small/outcomes": lambda _: httpx.Response(200, json=RECEIVED),
            "GET /v1/models/small/outcomes": lambda _: page(BUCKET),
            "GET /v1/models/small/alarms": lambda _: page(ALARM),
        }
    )
    calls = pair.client.outcomes
    assert calls.record("small", 0.5).record == 0.5
    assert calls.send("small", {"a": 1.5, "b": 2}).unknown_ids == ("b",)
    (bucket,) = calls.over_time("small", version=1, bucket="hour")
    assert (bucket.coverage[0].percent, bucket.coverage[0].coverage) == (95, 0.5)
    (alarm,) = calls.alarms("small")
    assert (alarm.statistic, alarm.direction, alarm.cleared_at) == ("coverage", "lower", None)
    requested = pair.service.requested
    assert [json.loads(one.content) for one in requested if one.content] == [
        {"record": 0.5},
        {"row_ids": ["a", "b"], "outcomes": [1.5, 2]},
    ]
    assert dict(requested[2].url.params) == {"version": "1", "bucket": "hour"}
