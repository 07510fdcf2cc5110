"""The collector away: it refuses, hangs, fails or dies, and requests are served as before."""

import logging
import socket
import time

import pytest
from starlette.testclient import TestClient

from app.main import make_application
from app.tracing.opentelemetry_tracer import OpenTelemetryTracer
from app.tracing.spans import FLUSH_SECONDS, Tracer
from tests.applications import LIMITS, SmallParts
from tests.collector import Collector
from tests.tracing.test_requests import ROWS
from tests.waiting import until


def predict(parts: SmallParts, tracer: Tracer, times: int) -> float:
    """The seconds that so many predictions took, all of which succeeded."""
    with TestClient(
        make_application(parts, LIMITS, tracer=tracer, log_requests=False), base_url="http://localhost"
    ) as client:
        began = time.monotonic()
        statuses = {client.post("/v1/models/small/predict", json=ROWS).status_code for _ in range(times)}
        assert statuses == {200}
        return time.monotonic() - began


def closed(tracer: Tracer) -> float:
    began = time.monotonic()
    tracer.close()
    return time.monotonic() - began


def test_a_collector_that_refuses_connections_delays_nothing(
    parts: SmallParts, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "10")
    tracer = OpenTelemetryTracer("relevance-test")
    assert predict(parts, tracer, 100) < 5.0
    assert closed(tracer) < FLUSH_SECONDS + 1.0


def test_a_collector_that_hangs_delays_nothing_and_spans_beyond_the_queue_are_dropped(
    parts: SmallParts, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("MAX_QUEUE_SIZE", "20"), ("MAX_EXPORT_BATCH_SIZE", "10")):
        monkeypatch.setenv(f"OTEL_BSP_{name}", value)
    collector.holds.set()
    tracer = OpenTelemetryTracer("relevance-test")
    assert predict(parts, tracer, 200) < 5.0
    until(lambda: collector.requests > 0)
    collector.holds.clear()
    assert closed(tracer) < FLUSH_SECONDS
    assert 20 < len(collector.spans) <= 20 + 10 * collector.requests < 200


def test_a_collector_that_hangs_delays_the_shutdown_by_two_seconds_at_most(
    parts: SmallParts, collector: Collector
) -> None:
    collector.holds.set()
    tracer = OpenTelemetryTracer("relevance-test")
    predict(parts, tracer, 5)
    until(lambda: collector.requests > 0)
    assert closed(tracer) < FLUSH_SECONDS + 1.0


def test_a_collector_that_fails_for_a_while_gets_the_spans_afterwards(
    parts: SmallParts, collector: Collector, tracer: OpenTelemetryTracer
) -> None:
    collector.status = 503
    predict(parts, tracer, 5)
    until(lambda: collector.requests > 0)
    collector.status = 200
    assert len(collector.wait(5)) == 5


def test_an_outage_of_the_collector_is_two_lines_of_the_log(
    parts: SmallParts, collector: Collector, tracer: OpenTelemetryTracer, caplog: pytest.LogCaptureFixture
) -> None:
    collector.status = 400  # not retried
    predict(parts, tracer, 5)
    until(lambda: bool(lines(caplog)))
    before = collector.requests
    predict(parts, tracer, 5)
    until(lambda: collector.requests > before)
    collector.status = 200
    predict(parts, tracer, 5)
    tracer.close()
    until(lambda: len(lines(caplog)) == 2)
    first, last = lines(caplog)
    assert not [record for record in caplog.records if record.name.startswith("opentelemetry.exporter")]
    assert (first.msg, last.msg) == ("spans can't be exported", "spans are exported again")
    assert "400" in vars(first)["reason"]
    assert vars(last)["lost"] == 15 - len(collector.spans)


def lines(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [record for record in caplog.records if record.name == "app.tracing.opentelemetry_tracer"]


def test_spans_are_exported_at_shutdown(
    parts: SmallParts, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "600000")
    tracer = OpenTelemetryTracer("relevance-test")
    predict(parts, tracer, 5)
    assert not collector.spans
    assert closed(tracer) < FLUSH_SECONDS
    assert len(collector.spans) == 5
