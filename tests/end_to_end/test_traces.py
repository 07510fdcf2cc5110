"""A trace from a client's request through the queue, a worker and its child process to a webhook, between processes."""

import json

import httpx2

from relevance_bayes.client.responses import Json
from tests.collector import Collector, collecting
from tests.end_to_end.deployment import Api, Deployment
from tests.end_to_end.tables import sinc
from tests.receivers import receiving, responses
from tests.waiting import until

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
SAMPLED = f"00-{TRACE}-{PARENT}-01"
HEADERS = {"traceparent": SAMPLED, "tracestate": "vendor=1", "X-Request-ID": "mine-1"}


def settings_for(collector: Collector) -> dict[str, str]:
    return {
        "RELEVANCE_TRACING": "true",
        "RELEVANCE_WEBHOOK_ALLOWED_HOSTS": "127.0.0.0/8",
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
        "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
        "OTEL_BSP_SCHEDULE_DELAY": "100",
    }


def submit(api: Api, path: str, **request: Json) -> httpx2.Response:
    response = api.http.post(path, json=request, headers=HEADERS)
    assert response.status_code == 202, response.text
    return response


def logged(deployment: Deployment, event: str) -> list[dict[str, object]]:
    lines = (json.loads(line) for line in deployment.given().splitlines() if line.startswith("{"))
    return [line for line in lines if line["event"] == event]


def test_a_trace_goes_from_the_client_to_the_webhook(deployment: Deployment) -> None:
    with collecting() as collector, receiving(responses(200)) as receiver:
        api = deployment.api(**settings_for(collector))
        deployment.start("worker", **settings_for(collector))
        dataset = api.calls.create_dataset(sinc(40), name="traced")
        assert api.http.post("/v1/webhooks", json={"url": receiver.url}).status_code == 201
        response = submit(api, "/v1/training-jobs", dataset_id=str(dataset.id), target="y", effort="quick")
        job_id = response.json()["id"]
        (request,) = collector.wait(relevance_request_id="mine-1")
        (attempt,) = collector.wait(messaging_message_id=job_id)
        (delivery,) = collector.wait(http_request_resend_count=0)
        (fit,) = [span for span in collector.found() if span.name == "fit"]
        deployment.stop()
    assert request.parent == PARENT
    assert attempt.parent == request.span_id
    assert fit.parent == delivery.parent == attempt.span_id
    assert {span.trace_id for span in (request, attempt, fit, delivery)} == {TRACE}
    names = [span.resource["service.name"] for span in (request, attempt, fit, delivery)]
    assert names == ["relevance-api", "relevance-worker", "relevance-worker", "relevance-worker"]
    pids = {request.resource["process.pid"], attempt.resource["process.pid"], fit.attributes["process.pid"]}
    assert len(pids) == 3
    assert next(name for name, _ in fit.events) == "phase"
    assert receiver.received[0].headers["traceparent"] == f"00-{TRACE}-{delivery.span_id}-01"
    assert receiver.received[0].headers["tracestate"] == delivery.state == attempt.state == "vendor=1"
    (line,) = [line for line in logged(deployment, "request") if line["request_id"] == "mine-1"]
    assert (line["trace_id"], line["span_id"]) == (TRACE, request.span_id)
    lines = [*logged(deployment, "job started"), *logged(deployment, "job ended")]
    assert [(line["job_id"], line["trace_id"], line["span_id"]) for line in lines] == [
        (job_id, TRACE, attempt.span_id)
    ] * 2


def test_a_job_that_repeats_another_links_to_it(deployment: Deployment) -> None:
    with collecting() as collector:
        api = deployment.api(**settings_for(collector))
        deployment.start("worker", **settings_for(collector))
        dataset = api.calls.create_dataset(sinc(40), name="traced")
        first = submit(api, "/v1/training-jobs", dataset_id=str(dataset.id), target="y", effort="quick").json()["id"]
        (attempt,) = collector.wait(messaging_message_id=first)
        retried = api.http.post(f"/v1/training-jobs/{first}/retry")
        assert retried.status_code == 202, retried.text
        (again,) = collector.wait(messaging_message_id=retried.json()["id"])
        evaluation = submit(api, "/v1/evaluations", model="traced", version=1, dataset_id=str(dataset.id))
        (evaluated,) = collector.wait(messaging_message_id=evaluation.json()["id"])
        deployment.stop()
    assert again.trace_id != TRACE
    assert again.links == (attempt.context,)
    assert (evaluated.name, evaluated.trace_id, evaluated.is_error) == ("process evaluation", TRACE, False)


def test_without_a_collector_jobs_and_requests_succeed_and_processes_end_in_time(deployment: Deployment) -> None:
    with collecting() as collector:
        collector.holds.set()
        api = deployment.api(**settings_for(collector))
        deployment.start("worker", **settings_for(collector))
        dataset = api.calls.create_dataset(sinc(40), name="traced")
        api.train(dataset_id=dataset.id, target="y")
        until(lambda: collector.requests >= 2)
        deployment.stop()  # which checks that each has ended by itself
        assert not collector.spans
