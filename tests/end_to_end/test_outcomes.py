"""Outcomes through two API processes and a worker: each counts once, and a departure raises one alarm."""

import json
from concurrent.futures import ThreadPoolExecutor

from relevance_bayes.records.outcomes import OutcomesReceived
from tests.end_to_end.deployment import Api, Deployment
from tests.receivers import receiving, responses
from tests.served import add_version
from tests.small_models import small_version
from tests.waiting import until

SETTINGS = {"RELEVANCE_WEBHOOK_ALLOWED_HOSTS": "127.0.0.0/8"}
IDS = [f"order-{number}" for number in range(120)]


def predicted(api: Api, ids: list[str]) -> tuple[float, float]:
    """Mean and sd of the rows, which are equal."""
    body = {"columns": {"x": [1.0] * len(ids), "colour": ["red"] * len(ids)}, "row_ids": ids}
    response = api.http.post("/v1/models/small/predict", json=body)
    assert response.status_code == 200, response.text
    first = response.json()["predictions"][0]
    return first["mean"], first["sd"]


def sent(api: Api, outcomes: dict[str, float]) -> OutcomesReceived:
    return api.calls.outcomes.send("small", outcomes)


def test_outcomes_through_all_processes_count_once_and_raise_one_alarm(deployment: Deployment) -> None:
    with receiving(responses(204)) as receiver:
        one, other = deployment.api(**SETTINGS), deployment.api(**SETTINGS)
        deployment.start("worker", **SETTINGS)
        add_version(one.http, "small", small_version())
        one.calls.webhooks.create(receiver.url, events=["model_alarm.raised", "model_alarm.cleared"])
        assert one.calls.outcomes.record("small", 1.0).record == 1.0
        mean, sd = predicted(one, IDS[:60])
        predicted(other, IDS[60:])
        until(lambda: sent(one, dict.fromkeys([IDS[0], IDS[-1]], mean)).unknown == 0)
        outcomes = dict.fromkeys(IDS[1:-1], mean + 3.0 * sd)
        with ThreadPoolExecutor(4) as pool:
            received = [*pool.map(lambda api: sent(api, outcomes), (one, other, one, other))]
        assert sum(found.recorded for found in received) == len(IDS) - 2
        assert sum(found.repeated for found in received) == 3 * (len(IDS) - 2)
        (day,) = other.calls.outcomes.over_time("small")
        assert (day.version, day.outcomes, day.coverage[-1].coverage) == (1, len(IDS), 2 / len(IDS))
        alarms = [*other.calls.outcomes.alarms("small")]
        assert {alarm.statistic for alarm in alarms} == {"coverage", "log_score"}
        assert len(alarms) == 2
        until(lambda: len(receiver.received) >= 2)
        deployment.stop()
    messages = [json.loads(one.body) for one in receiver.received]
    assert {message["data"]["id"] for message in messages} == {alarm.id for alarm in alarms}
    assert [message["type"] for message in messages] == ["model_alarm.raised"] * 2
