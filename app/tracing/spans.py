"""Spans, independent of the library that exports them, and the span and request id of the current thread or task.

A trace context is the text of the header `traceparent` (https://www.w3.org/TR/trace-context/).
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, Protocol, TypeAlias

Value: TypeAlias = str | bool | int | float
Attributes: TypeAlias = Mapping[str, Value]

SpanKind: TypeAlias = Literal["server", "consumer", "client", "internal"]

TRACEPARENT, TRACESTATE, TRACERESPONSE = "traceparent", "tracestate", "traceresponse"
"""The headers of a trace context: of requests the first two, of responses the last."""


FLUSH_SECONDS = 2.0
"""The time in which the remaining spans must be exported at shutdown; later ones are lost."""


class Span(Protocol):
    """A span: its ids in hexadecimal digits, and its trace context."""

    @property
    def trace_id(self) -> str: ...

    @property
    def span_id(self) -> str: ...

    @property
    def traceparent(self) -> str | None:
        """Return its trace context; None where nothing is traced."""

    @property
    def tracestate(self) -> str | None:
        """Return the entries of tracing systems in its trace context; None without any."""

    def set(self, attributes: Attributes) -> None:
        """Set attributes."""

    def add_event(self, name: str, attributes: Attributes) -> None:
        """Add an event, at the current time."""

    def end(self, *, name: str | None = None, error: str | None = None) -> None:
        """End it, under another name or as an `error` where they are given; only the first call has an effect."""


class NoSpan:
    """The span of what is not traced."""

    trace_id = span_id = ""
    traceparent = tracestate = None

    def set(self, attributes: Attributes) -> None:
        """Do nothing."""

    def add_event(self, name: str, attributes: Attributes) -> None:
        """Do nothing."""

    def end(self, *, name: str | None = None, error: str | None = None) -> None:
        """Do nothing."""


NO_SPAN = NoSpan()


class Tracer(Protocol):
    """Starts spans, and exports those that have ended and are sampled."""

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
        """Start a span in the trace of its `parent`, else in a trace of its own; invalid trace contexts are ignored.

        `state` is the `tracestate` of the parent, and `links` are the trace contexts of other spans.
        """

    def close(self) -> None:
        """Export the remaining spans within a bounded time."""


class NoTracer:
    """Traces nothing."""

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
        """Return NO_SPAN."""
        return NO_SPAN

    def close(self) -> None:
        """Do nothing."""


NO_TRACER = NoTracer()

CURRENT: ContextVar[Span] = ContextVar("span", default=NO_SPAN)
"""The span of the current request or job."""

CURRENT_REQUEST: ContextVar[str | None] = ContextVar("request_id", default=None)
"""The id of the current request."""


def current_traceparent() -> str | None:
    """Return the trace context of the current span; None where nothing is traced."""
    return CURRENT.get().traceparent


def current_tracestate() -> str | None:
    """Return the entries of tracing systems in the trace context of the current span; None without any."""
    return CURRENT.get().tracestate


@contextmanager
def span_scope() -> Iterator[None]:
    """A block whose current span ends with it at the latest, as an error where the block raises an exception."""
    token = CURRENT.set(NO_SPAN)
    try:
        yield
    except BaseException as error:
        CURRENT.get().end(error=type(error).__name__)
        raise
    finally:
        CURRENT.get().end()
        CURRENT.reset(token)
