"""The spans of delivery attempts, whose trace context receivers get."""

from collections.abc import Iterator
from dataclasses import replace
from uuid import UUID

import pytest

from app.jobs.repository import JobRepository
from app.tracing.opentelemetry_tracer import OpenTelemetryTracer
from app.tracing.spans import CURRENT, span_scope
from app.webhooks.repository import DeliveryRepository
from tests import samples
from tests.collector import Collector
from tests.receivers import receiving, responses
from tests.tracing.conftest import collector
from tests.waiting import until
from tests.webhooks.test_deliverer import Place, place

__all__ = ["collector", "place"]


@pytest.fixture
def tracer(collector: Collector) -> Iterator[OpenTelemetryTracer]:
    tracer = OpenTelemetryTracer("relevance-worker")
    with span_scope():  # as the engine does it for each entry
        yield tracer
    tracer.close()


PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def test_each_attempt_is_a_span_in_the_trace_of_the_jobs_end_and_its_receiver_gets_it(
    place: Place, tracer: OpenTelemetryTracer, collector: Collector
) -> None:
    with receiving(responses(500), responses(204)) as receiver:
        webhook, _ = place.hook(receiver.url)
        engine = place.engine(replace(place.deliverer(0.2, 60.0), tracer=tracer))
        engine.launch()
        try:
            with span_scope():
                end = tracer.start("process training", "consumer", {}, parent=PARENT, state="vendor=1")
                CURRENT.set(end)
                place.end()
            until(lambda: place.deliveries(webhook)[0].state == "delivered", seconds=20)
        finally:
            engine.shutdown(5.0)
    first, second = collector.wait(2, http_request_method="POST")
    assert [request.headers["traceparent"] for request in receiver.received] == [
        f"00-{end.trace_id}-{span.span_id}-01" for span in (first, second)
    ]
    assert {request.headers["tracestate"] for request in receiver.received} == {"vendor=1"}
    (delivery,) = place.deliveries(webhook)
    for span, tries, status in ((first, 0, 500), (second, 1, 204)):
        assert (span.name, span.kind) == ("POST", "client")
        assert (span.trace_id, span.parent) == (end.trace_id, end.span_id)
        assert span.is_error == (status == 500)
        expected = {
            "http.request.method": "POST",
            "http.request.resend_count": tries,
            "http.response.status_code": status,
            "server.address": "127.0.0.1",
            "server.port": receiver.port,
            "relevance.webhook.id": webhook.id,
            "relevance.webhook.delivery_id": delivery.id,
        }
        assert dict(span.attributes) == expected | ({"error.type": "500"} if status == 500 else {})


def test_a_redelivery_belongs_to_the_trace_of_its_request(
    place: Place, tracer: OpenTelemetryTracer, collector: Collector
) -> None:
    with receiving(responses(200)) as receiver:
        webhook, _ = place.hook(receiver.url)
        place.end()
        (delivery,) = place.deliveries(webhook)
        with span_scope():
            request = tracer.start("POST", "server", {})
            CURRENT.set(request)
            with place.transaction() as tx:
                DeliveryRepository(tx).redeliver(samples.OWNER, UUID(webhook.id), UUID(delivery.id))
        assert replace(place.deliverer(), tracer=tracer)(place.entry())
    (span,) = collector.wait(http_response_status_code=200)
    assert (span.trace_id, span.parent) == (request.trace_id, request.span_id)


def test_a_delivery_outside_any_span_belongs_to_the_trace_of_the_submission(
    place: Place, tracer: OpenTelemetryTracer, collector: Collector
) -> None:
    with receiving(responses(200)) as receiver:
        place.hook(receiver.url)
        with span_scope():
            submission = tracer.start("POST", "server", {})
            CURRENT.set(submission)
            job_id = samples.queued_job(place.transaction)
        with place.transaction() as tx:
            JobRepository(tx).request_cancel(samples.OWNER, job_id)
        assert replace(place.deliverer(), tracer=tracer)(place.entry())
    (span,) = collector.wait(http_response_status_code=200)
    assert (span.trace_id, span.parent) == (submission.trace_id, submission.span_id)


def test_receivers_get_no_trace_context_without_a_tracer(place: Place) -> None:
    with receiving(responses(200)) as receiver:
        place.hook(receiver.url)
        place.end()
        assert place.deliverer()(place.entry())
    (received,) = receiver.received
    assert "traceparent" not in received.headers
