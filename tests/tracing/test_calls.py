"""The spans of calls over gRPC, and their request ids."""

from dataclasses import replace

import grpc
import pytest

from app.inference.rpc.generated import open_inference_pb2 as messages
from app.inference.rpc.service import NAME
from app.tracing.opentelemetry_tracer import OpenTelemetryTracer
from tests.applications import SmallParts
from tests.collector import Collector
from tests.inference.rpc.test_calls import RULES, Client, run
from tests.tracing.test_requests import PARENT, SAMPLED, TRACE

Sent = tuple[tuple[str, str], ...]


async def call(client: Client, name: str, requested: messages.ModelMetadataRequest, sent: Sent) -> dict[str, object]:
    """The trailing metadata of a call, successful or not."""
    running = client.begin(name, requested, messages.ModelMetadataResponse, sent)
    try:
        await running
    except grpc.aio.AioRpcError as error:
        return dict(error.trailing_metadata() or ())
    return dict(await running.trailing_metadata() or ())


def trailing(
    parts: SmallParts, tracer: OpenTelemetryTracer | None, *sent: tuple[str, str], model: str = "small"
) -> dict[str, object]:
    requested = messages.ModelMetadataRequest(name=model)
    return run(parts, lambda client: call(client, "ModelMetadata", requested, sent), replace(RULES, tracer=tracer))


def test_a_call_is_a_span_of_the_callers_trace(
    parts: SmallParts, tracer: OpenTelemetryTracer, collector: Collector
) -> None:
    sent_on = trailing(parts, tracer, ("traceparent", SAMPLED), ("tracestate", "vendor=1"), ("x-request-id", "mine"))
    (span,) = collector.wait()
    assert (span.name, span.kind, span.is_error) == (f"{NAME}/ModelMetadata", "server", False)
    assert (span.trace_id, span.parent, span.state) == (TRACE, PARENT, "vendor=1")
    assert dict(span.attributes) == {
        "rpc.system.name": "grpc",
        "rpc.method": f"{NAME}/ModelMetadata",
        "rpc.response.status_code": "OK",
        "relevance.request_id": "mine",
    }
    assert sent_on["x-request-id"] == "mine"


def test_a_refused_call_has_its_code_and_is_no_error_of_the_server(
    parts: SmallParts, tracer: OpenTelemetryTracer, collector: Collector
) -> None:
    sent_on = trailing(parts, tracer, model="nothing")
    (span,) = collector.wait()
    assert (span.attributes["rpc.response.status_code"], span.is_error) == ("NOT_FOUND", False)
    assert sent_on["x-request-id"] == span.attributes["relevance.request_id"]


def test_a_call_without_the_database_is_an_error(
    parts: SmallParts, tracer: OpenTelemetryTracer, collector: Collector
) -> None:
    parts.stored.reachable = False
    trailing(parts, tracer)
    (span,) = collector.wait()
    assert (span.attributes["error.type"], span.is_error) == ("UNAVAILABLE", True)


@pytest.mark.parametrize("sent", ["two words", "x" * 129])
def test_an_id_that_is_not_well_formed_is_replaced(parts: SmallParts, sent: str) -> None:
    made = trailing(parts, None, ("x-request-id", sent))["x-request-id"]
    assert made != sent
    assert len(str(made)) == 36
