"""A collector of spans: it receives OTLP over HTTP, and decodes it with the protocol's own messages."""

import gzip
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SpanMessage
from opentelemetry.proto.trace.v1.trace_pb2 import Status

Value = str | bool | int | float

MAX_WAIT_SECONDS = 60.0


@dataclass(frozen=True)
class Collected:
    """A span as the collector got it; ids are hexadecimal, `parent` is empty for a root."""

    name: str
    kind: str
    trace_id: str
    span_id: str
    parent: str
    state: str
    links: tuple[tuple[str, str], ...]
    attributes: Mapping[str, Value]
    events: tuple[tuple[str, Mapping[str, Value]], ...]
    is_error: bool
    seconds: float
    resource: Mapping[str, Value]
    started_ns: int

    @property
    def context(self) -> tuple[str, str]:
        """The ids of trace and span."""
        return self.trace_id, self.span_id


@dataclass
class Collector:
    """The spans received so far. While `holds` is set, requests get no response; `status` is that of the others."""

    spans: list[Collected] = field(default_factory=list)
    holds: threading.Event = field(default_factory=threading.Event)
    ending: threading.Event = field(default_factory=threading.Event)
    status: int = 200
    requests: int = 0
    url: str = ""

    def receive(self, body: bytes) -> None:
        """Decode a request of an exporter."""
        message = ExportTraceServiceRequest.FromString(body)
        for group in message.resource_spans:
            resource = values(group.resource.attributes)
            for scope in group.scope_spans:
                self.spans += [read(span, resource) for span in scope.spans]

    def wait(self, count: int = 1, **attributes: Value) -> list[Collected]:
        """Wait for so many spans with these attributes, named with `_` for `.`, and return them by their start."""
        deadline = time.monotonic() + MAX_WAIT_SECONDS
        while len(found := self.found(**attributes)) < count:
            got = [(span.name, dict(span.attributes)) for span in self.spans]
            assert time.monotonic() < deadline, f"expected {count} spans with {attributes}, got {got}"
            time.sleep(0.02)
        return found

    def found(self, **attributes: Value) -> list[Collected]:
        """Return the spans with these attributes, by their start."""
        return sorted(
            (span for span in list(self.spans) if attributes.items() <= flat(span.attributes).items()),
            key=lambda span: span.started_ns,
        )


def flat(attributes: Mapping[str, Value]) -> dict[str, Value]:
    return {name.replace(".", "_"): value for name, value in attributes.items()}


def value(of: AnyValue) -> Value:
    match of.WhichOneof("value"):
        case "string_value":
            return of.string_value
        case "bool_value":
            return of.bool_value
        case "int_value":
            return of.int_value
        case "double_value":
            return of.double_value
    raise TypeError(f"expected a plain value, got {of}")


def values(pairs: Sequence[KeyValue]) -> dict[str, Value]:
    return {pair.key: value(pair.value) for pair in pairs}


def read(span: SpanMessage, resource: Mapping[str, Value]) -> Collected:
    return Collected(
        span.name,
        SpanMessage.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_").lower(),
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        span.trace_state,
        tuple((link.trace_id.hex(), link.span_id.hex()) for link in span.links),
        values(span.attributes),
        tuple((event.name, values(event.attributes)) for event in span.events),
        span.status.code == Status.STATUS_CODE_ERROR,
        (span.end_time_unix_nano - span.start_time_unix_nano) / 1e9,
        resource,
        span.start_time_unix_nano,
    )


@contextmanager
def collecting() -> Iterator[Collector]:
    """A collector at work, on a port of its own."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            collector.requests += 1
            body = self.rfile.read(int(self.headers["Content-Length"]))
            while collector.holds.is_set() and not collector.ending.wait(0.02):
                pass
            if collector.status == 200:
                assert self.path == "/v1/traces"
                assert self.headers["Content-Type"] == "application/x-protobuf"
                collector.receive(gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body)
            self.send_response(collector.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Write nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    collector.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield collector
    finally:
        collector.ending.set()
        server.shutdown()
        thread.join()
        server.server_close()
