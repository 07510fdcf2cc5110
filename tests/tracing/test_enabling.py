"""Tracing is off by default: the packages are loaded, and a tracer is made, only where it is enabled."""

import pytest

from app.services import build, make_tracer
from app.settings import Settings
from app.tracing.opentelemetry_tracer import OpenTelemetryTracer
from app.tracing.spans import NO_SPAN, NO_TRACER
from tests.collector import Collector


def test_nothing_is_traced_by_default(collector: Collector) -> None:
    parts = build(Settings())
    assert parts.tracer is NO_TRACER
    assert NO_TRACER.start("a name", "internal", {}, parent=f"00-{'1' * 32}-{'2' * 16}-01") is NO_SPAN
    parts.close()


def test_the_setting_enables_tracing(collector: Collector) -> None:
    parts = build(Settings(tracing=True))
    assert isinstance(parts.tracer, OpenTelemetryTracer)
    parts.tracer.start("a name", "internal", {}).end()
    parts.close()
    (span,) = collector.spans
    assert (span.name, span.resource["service.name"]) == ("a name", "relevance-api")


def test_standard_variables_name_the_service(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "predictions")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=staging,service.instance.id=pod-1")
    tracer = make_tracer(Settings(tracing=True), "relevance-api")
    tracer.start("a name", "internal", {}).end()
    tracer.close()
    resource = collector.spans[0].resource
    assert resource["service.name"] == "predictions"
    assert resource["deployment.environment.name"] == "staging"
    assert resource["service.instance.id"] == "pod-1"


@pytest.mark.parametrize(("name", "value"), [("OTEL_SDK_DISABLED", "true"), ("OTEL_TRACES_EXPORTER", "none")])
def test_standard_variables_disable_tracing(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    assert make_tracer(Settings(tracing=True), "relevance-api") is NO_TRACER
