"""A tracer that exports to a collector of the test, and the API that it traces."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from app.main import make_application
from app.tracing.opentelemetry_tracer import OpenTelemetryTracer
from tests.applications import LIMITS, SmallParts
from tests.collector import Collector, collecting


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    """A collector, to which OpenTelemetry's variables point."""
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
        yield collector


@pytest.fixture
def tracer(collector: Collector) -> Iterator[OpenTelemetryTracer]:
    """A tracer that exports to the collector."""
    tracer = OpenTelemetryTracer("relevance-test")
    yield tracer
    tracer.close()


@pytest.fixture
def traced(parts: SmallParts, tracer: OpenTelemetryTracer) -> Iterator[TestClient]:
    """A client of an API that is traced."""
    with TestClient(
        make_application(parts, LIMITS, tracer=tracer), raise_server_exceptions=False, base_url="http://localhost"
    ) as client:
        yield client
