"""The tracer of the package OpenTelemetry, which exports spans over OTLP in a thread of its own.

OpenTelemetry's environment variables (`OTEL_*`) define the collector, the sampler, the resource and the sizes of the
queue and of batches. Spans beyond the queue's size are dropped: nothing waits for the collector.
"""

import logging
import os
import re
from collections.abc import Callable, Mapping, Sequence
from threading import Thread
from time import time_ns
from typing import NamedTuple
from uuid import uuid4

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import Event, ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    SpanContext,
    Status,
    StatusCode,
    TraceFlags,
    TraceState,
    set_span_in_context,
)
from opentelemetry.trace import SpanKind as RecordedKind

from app import __version__
from app.tracing.spans import FLUSH_SECONDS, Attributes, Span, SpanKind

logger = logging.getLogger(__name__)
_EXPORTER = logging.getLogger(OTLPSpanExporter.__module__)

MAX_STATE = 512
"""The maximum length of a `tracestate` that is continued."""

_TRACEPARENT = re.compile(r"(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_NO_PARENT = Context()
_UNSET, _ERROR = Status(StatusCode.UNSET), Status(StatusCode.ERROR)
_SCOPE = InstrumentationScope("relevance", __version__)
_KINDS: Mapping[SpanKind, RecordedKind] = {
    "server": RecordedKind.SERVER,
    "consumer": RecordedKind.CONSUMER,
    "client": RecordedKind.CLIENT,
    "internal": RecordedKind.INTERNAL,
}


class UnsampledSpan:
    """A span that is not exported; it has ids, which its children and callees get."""

    __slots__ = ("_context",)

    def __init__(self, context: SpanContext) -> None:
        self._context = context

    @property
    def trace_id(self) -> str:
        """The id of its trace."""
        return f"{self._context.trace_id:032x}"

    @property
    def span_id(self) -> str:
        """Its id."""
        return f"{self._context.span_id:016x}"

    @property
    def traceparent(self) -> str:
        """Its trace context."""
        context = self._context
        return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"

    @property
    def tracestate(self) -> str | None:
        """The entries of tracing systems in its trace context."""
        return self._context.trace_state.to_header() or None

    def set(self, attributes: Attributes) -> None:
        """Do nothing."""

    def add_event(self, name: str, attributes: Attributes) -> None:
        """Do nothing."""

    def end(self, *, name: str | None = None, error: str | None = None) -> None:
        """Do nothing."""


class SampledSpan(UnsampledSpan):
    """A span that is passed to `export` at its end; `fields` are members of it that do not change."""

    __slots__ = ("_attributes", "_events", "_export", "_fields", "_has_ended", "_name", "_start")

    def __init__(
        self, name: str, attributes: Attributes, fields: "SpanFields", export: Callable[[ReadableSpan], None]
    ) -> None:
        super().__init__(fields.context)
        self._name = name
        self._attributes = dict(attributes)
        self._fields = fields
        self._export = export
        self._events: list[Event] = []
        self._has_ended = False
        self._start = time_ns()

    def set(self, attributes: Attributes) -> None:
        """Set attributes."""
        self._attributes.update(attributes)

    def add_event(self, name: str, attributes: Attributes) -> None:
        """Add an event, at the current time."""
        self._events.append(Event(name, attributes))

    def end(self, *, name: str | None = None, error: str | None = None) -> None:
        """End it, under another name or as an `error` where they are given; only the first call has an effect."""
        if self._has_ended:
            return
        self._has_ended = True
        if error is not None:
            self._attributes["error.type"] = error
        fields = self._fields
        self._export(
            ReadableSpan(
                self._name if name is None else name,
                fields.context,
                fields.parent,
                fields.resource,
                self._attributes,
                self._events,
                fields.links,
                fields.kind,
                status=_UNSET if error is None else _ERROR,
                start_time=self._start,
                end_time=time_ns(),
                instrumentation_scope=_SCOPE,
            )
        )


class SpanFields(NamedTuple):
    """The members of a span that do not change."""

    context: SpanContext
    parent: SpanContext | None
    resource: Resource
    links: Sequence[Link]
    kind: RecordedKind


class _LastMessage(logging.Filter):
    """The last message of the exporter, whose records are not logged."""

    message = ""

    def filter(self, record: logging.LogRecord) -> bool:
        self.message = record.getMessage()
        return False


_REASON = _LastMessage()


class OutageLog(SpanExporter):
    """An exporter that logs the begin and the end of an outage of the collector, however long it is.

    The exporter's own records, one for each attempt, are not logged; the last one is the reason.
    """

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._lost = 0
        _EXPORTER.addFilter(_REASON)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export spans; those of a failed export are lost."""
        result = self._exporter.export(spans)
        if result is not SpanExportResult.SUCCESS:
            if not self._lost:
                logger.warning("spans can't be exported", extra={"reason": _REASON.message})
            self._lost += len(spans)
        elif self._lost:
            logger.warning("spans are exported again", extra={"lost": self._lost})
            self._lost = 0
        return result

    def shutdown(self) -> None:
        """Interrupt the waits between attempts of a failing export."""
        self._exporter.shutdown()


class OpenTelemetryTracer:
    """Exports the spans of one process, which the resource attributes `service.name` and `service.instance.id` name.

    Sampler, resource, queue and exporter are those of OpenTelemetry. Its spans cost twice as much as these.
    """

    def __init__(self, service: str) -> None:
        given = Resource({"service.name": service, "service.version": __version__})
        instance = Resource({"service.instance.id": str(uuid4()), "process.pid": os.getpid()})
        self._resource = Resource.create().merge(given).merge(instance).merge(OTELResourceDetector().detect())
        self._provider = TracerProvider(resource=self._resource, shutdown_on_exit=False)
        self._sampler, self._ids = self._provider.sampler, self._provider.id_generator
        self._processor = BatchSpanProcessor(OutageLog(OTLPSpanExporter()))
        self._provider.add_span_processor(self._processor)

    def start(
        self,
        name: str,
        kind: SpanKind,
        attributes: Attributes,
        *,
        parent: str | None = None,
        state: str | None = None,
        links: Sequence[str] = (),
    ) -> Span:
        """Start a span in the trace of its `parent`, else in a trace of its own; invalid trace contexts are ignored."""
        remote = None if parent is None else _span_context(parent, state)
        if remote is None:
            around, trace_id, flags = _NO_PARENT, self._ids.generate_trace_id(), TraceFlags.RANDOM_TRACE_ID
        else:
            around = set_span_in_context(NonRecordingSpan(remote), _NO_PARENT)
            trace_id, flags = remote.trace_id, remote.trace_flags & TraceFlags.RANDOM_TRACE_ID
        sampling = self._sampler.should_sample(around, trace_id, name, _KINDS[kind], attributes)
        is_sampled = sampling.decision is Decision.RECORD_AND_SAMPLE
        flags = TraceFlags(flags | TraceFlags.SAMPLED if is_sampled else flags)
        context = SpanContext(trace_id, self._ids.generate_span_id(), False, flags, sampling.trace_state)
        if not is_sampled:
            return UnsampledSpan(context)
        linked = [Link(other) for one in links if (other := _span_context(one)) is not None]
        fields = SpanFields(context, remote, self._resource, linked, _KINDS[kind])
        return SampledSpan(name, attributes, fields, self._processor.on_end)

    def close(self) -> None:
        """Export the remaining spans within FLUSH_SECONDS."""
        flush = Thread(target=self._provider.shutdown, name="tracing-flush", daemon=True)
        flush.start()
        flush.join(FLUSH_SECONDS)


def _span_context(traceparent: str, state: str | None = None) -> SpanContext | None:
    """Return the span that a trace context identifies; None where it is invalid."""
    found = _TRACEPARENT.fullmatch(traceparent)
    if found is None or (found[1] == "00" and found[5]):
        return None
    entries = TraceState() if state is None or len(state) > MAX_STATE else TraceState.from_header([state])
    return SpanContext(
        int(found[2], 16),
        int(found[3], 16),
        is_remote=True,
        trace_flags=TraceFlags(int(found[4], 16)),
        trace_state=entries,
    )
