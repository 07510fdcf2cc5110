"""The spans of requests: their trace, names and attributes, what is sampled, and what is not traced."""

import json

import pytest
from starlette.testclient import TestClient

from app.main import make_application
from app.tracing.opentelemetry_tracer import OpenTelemetryTracer
from tests.applications import LIMITS, SmallParts
from tests.collector import Collector
from tests.doubles.authenticator import OneKey

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
SAMPLED, UNSAMPLED = f"00-{TRACE}-{PARENT}-01", f"00-{TRACE}-{PARENT}-00"
ROWS = {"rows": [{"x": 0.5, "colour": "red"}]}
TENSORS = {"inputs": [{"name": "x", "shape": [1], "datatype": "FP64", "data": [1.5]}]}


def test_a_request_is_a_span_of_the_callers_trace(traced: TestClient, collector: Collector) -> None:
    headers = {"traceparent": SAMPLED, "tracestate": "vendor=1", "X-Request-ID": "mine-1", "User-Agent": "agent/1"}
    response = traced.post("/v1/models/small/predict", json=ROWS, headers=headers)
    assert response.status_code == 200
    (span,) = collector.wait()
    assert (span.name, span.kind) == ("POST /v1/models/{name}/predict", "server")
    assert (span.trace_id, span.parent, span.state, span.is_error) == (TRACE, PARENT, "vendor=1", False)
    assert response.headers["traceresponse"] == f"00-{TRACE}-{span.span_id}-01"
    assert dict(span.attributes) == {
        "http.request.method": "POST",
        "http.route": "/v1/models/{name}/predict",
        "http.response.status_code": 200,
        "url.scheme": "http",
        "url.path": "/v1/models/small/predict",
        "network.protocol.version": "1.1",
        "network.peer.address": "testclient",
        "user_agent.original": "agent/1",
        "relevance.request_id": "mine-1",
    }
    assert span.resource["service.name"] == "relevance-test"
    assert {"service.version", "service.instance.id", "process.pid", "telemetry.sdk.name"} <= span.resource.keys()


@pytest.mark.parametrize(
    "sent",
    [
        (),
        ("nonsense",),
        (f"00-{'0' * 32}-{PARENT}-01",),
        (f"00-{TRACE}-{'0' * 16}-01",),
        (f"ff-{TRACE}-{PARENT}-01",),
        (f"00-{TRACE.upper()}-{PARENT}-01",),
        (f"{SAMPLED}-more",),
        (SAMPLED, SAMPLED),
    ],
)
def test_an_invalid_trace_context_begins_a_trace(
    traced: TestClient, collector: Collector, sent: tuple[str, ...]
) -> None:
    response = traced.get("/v1/models/small", headers=[("traceparent", one) for one in sent])
    (span,) = collector.wait()
    assert (response.status_code, span.parent, span.name) == (200, "", "GET /v1/models/{name}")
    assert span.trace_id not in {TRACE, "0" * 32}
    assert response.headers["traceresponse"].split("-")[1:3] == [span.trace_id, span.span_id]


def test_a_later_version_of_the_trace_context_is_continued(traced: TestClient, collector: Collector) -> None:
    traced.get("/v1/models/small", headers={"traceparent": f"01-{TRACE}-{PARENT}-01-more"})
    assert collector.wait()[0].trace_id == TRACE


def test_a_trace_that_the_caller_did_not_sample_is_not_exported(traced: TestClient, collector: Collector) -> None:
    response = traced.get("/v1/models/small", headers={"traceparent": UNSAMPLED})
    assert response.headers["traceresponse"].startswith(f"00-{TRACE}-")
    assert response.headers["traceresponse"].endswith("-00")
    traced.get("/v1/models/classes")
    collector.wait(url_path="/v1/models/classes")
    assert [span.attributes["url.path"] for span in collector.spans] == ["/v1/models/classes"]


def test_a_ratio_of_traces_is_sampled(parts: SmallParts, collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", "0.25")
    tracer = OpenTelemetryTracer("relevance-test")
    with TestClient(
        make_application(parts, LIMITS, tracer=tracer, log_requests=False), base_url="http://localhost"
    ) as client:
        flags = [client.get("/v1/models/small").headers["traceresponse"][-2:] for _ in range(200)]
        client.get("/v1/models/classes", headers={"traceparent": SAMPLED})
    tracer.close()
    sampled = sum(flag in {"01", "03"} for flag in flags)
    assert 20 < sampled < 90
    assert len(collector.found(url_path="/v1/models/small")) == sampled
    assert [span.trace_id for span in collector.found(url_path="/v1/models/classes")] == [TRACE]


def test_refused_requests_are_spans_without_secrets(
    parts: SmallParts, collector: Collector, tracer: OpenTelemetryTracer
) -> None:
    application = make_application(parts, LIMITS, authenticator=OneKey("a key"), tracer=tracer)
    with TestClient(application, base_url="http://localhost") as client:
        refused = client.get("/v1/models/small?after=secret-cursor", headers={"Authorization": "Bearer secret-key"})
        assert refused.status_code == 401
    (span,) = collector.wait()
    assert (span.name, span.attributes["http.response.status_code"], span.is_error) == ("GET", 401, False)
    assert "http.route" not in span.attributes
    assert "secret" not in json.dumps(dict(span.attributes))


def test_other_methods_have_one_name(traced: TestClient, collector: Collector) -> None:
    traced.request("BREW", "/v1/models/small")
    (span,) = collector.wait()
    assert span.name.split()[0] == "HTTP"
    assert span.attributes["http.request.method"] == "_OTHER"
    assert span.attributes["http.request.method_original"] == "BREW"


def test_a_failure_is_an_error(traced: TestClient, collector: Collector, parts: SmallParts) -> None:
    parts.stored.reachable = False
    assert traced.get("/v1/models/small").status_code == 503
    (span,) = collector.wait()
    assert (span.is_error, span.attributes["error.type"]) == (True, "503")
    assert span.attributes["http.response.status_code"] == 503


def test_the_open_inference_protocol_is_traced(traced: TestClient, collector: Collector) -> None:
    traced.post("/v2/models/small/infer", json=TENSORS, headers={"traceparent": SAMPLED})
    traced.get("/v2/models/small/versions/1", headers={"traceparent": SAMPLED})
    spans = collector.wait(2)
    assert [span.attributes["http.route"] for span in spans] == [
        "/v2/models/{name}/infer",
        "/v2/models/{name}/versions/{version}",
    ]
    assert {span.trace_id for span in spans} == {TRACE}


def test_probes_metrics_and_pages_are_not_traced(traced: TestClient, collector: Collector) -> None:
    for path in ("/health/live", "/health/ready", "/v2/health/live", "/metrics", "/docs", "/openapi.json"):
        response = traced.get(path, headers={"traceparent": SAMPLED})
        assert response.status_code == 200, path
        assert "traceresponse" not in response.headers
    traced.get("/v1/models/small")
    collector.wait()
    assert len(collector.spans) == 1


def test_nothing_is_traced_without_a_tracer(client: TestClient, collector: Collector) -> None:
    response = client.get("/v1/models/small", headers={"traceparent": SAMPLED})
    assert response.status_code == 200
    assert "traceresponse" not in response.headers
    assert collector.requests == 0


def test_texts_of_the_client_are_bounded(traced: TestClient, collector: Collector) -> None:
    long = f"vendor={'x' * 600}"
    headers = {"traceparent": SAMPLED, "tracestate": long, "User-Agent": "a" * 3000}
    traced.get(f"/v1/models/{'m' * 3000}", headers=headers)
    (span,) = collector.wait()
    assert (span.trace_id, span.state) == (TRACE, "")
    assert {len(str(span.attributes[name])) for name in ("url.path", "user_agent.original")} == {1024}
