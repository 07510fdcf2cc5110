"""The metrics and the spans of requests.

The spans have the attribute names of OpenTelemetry's semantic conventions for HTTP servers, and no query, no body and
no headers but `User-Agent`.
"""

from bisect import bisect_left
from time import perf_counter_ns

from starlette.types import Scope

from app.http.paths import METRICS, TEMPLATE, is_protected
from app.metrics import NANOSECONDS, Family, Numbers, counter
from app.tracing.spans import CURRENT, NO_SPAN, TRACEPARENT, TRACESTATE, Attributes, Span, Tracer, Value

BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds that the requests of each bucket took at most."""

_SUM = len(BOUNDS) + 1
_BOUNDS = tuple(round(NANOSECONDS * bound) for bound in BOUNDS)

STATUSES = ("2xx", "3xx", "4xx", "5xx")
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER_METHOD = "other"
UNMATCHED = "unmatched"
"""The route of requests that no route of the API matches, and of those that were refused before."""

REQUESTS = counter(
    "relevance_http_requests_total",
    "Requests by method, route and class of the response's status.",
    "method",
    "route",
    "status",
)
DURATIONS = Family(
    "relevance_http_request_duration_seconds",
    "histogram",
    "Time from a request's headers to the end of its response.",
    ("method", "route"),
    BOUNDS,
    NANOSECONDS,
)


class RequestMetrics:
    """Counts requests on the event loop; the labels are bounded, since routes are."""

    def __init__(self, numbers: Numbers | None = None) -> None:
        self._numbers = Numbers() if numbers is None else numbers
        self._values = self._numbers.values
        self._places: dict[tuple[str, str], tuple[int, int]] = {}

    def count(self, scope: Scope, status: int, began: int) -> None:
        """Count a response to a request that began at this time of `time.perf_counter_ns`."""
        took = perf_counter_ns() - began
        template: str = scope.get(TEMPLATE, "") or getattr(scope.get("route"), "path_format", UNMATCHED)
        places = self._places.get((scope["method"], template)) or self._places_of(scope["method"], template)
        requests, durations = places
        values = self._values
        values[requests + status // 100 - 2] += 1
        values[durations + bisect_left(_BOUNDS, took)] += 1
        values[durations + _SUM] += took

    def _places_of(self, method: str, template: str) -> tuple[int, int]:
        """Return the places of a method and a template, seen for the first time; a method may be any word."""
        key = (method if method in METHODS else OTHER_METHOD, template)
        if key not in self._places:
            requests = [self._numbers.place(REQUESTS, *key, status) for status in STATUSES]
            self._places[key] = requests[0], self._numbers.place(DURATIONS, *key)
        return self._places[key]


_TRACEPARENT, _TRACESTATE = TRACEPARENT.encode(), TRACESTATE.encode()
OTHER_METHOD_OF_SPANS = "_OTHER"

MAX_TEXT = 1024
"""The maximum number of characters of an attribute that the client sends; the rest is cut off."""


def start_request(tracer: Tracer, scope: Scope, path: str, request_id: str) -> Span:
    """Start the span of a request and make it the current one; probes, metrics and pages are not traced.

    It continues the trace of the request's one `traceparent`; with several of them it begins a trace.
    """
    if not is_protected(path) or path == METRICS:
        CURRENT.set(NO_SPAN)
        return NO_SPAN
    parents: list[bytes] = []
    states: list[bytes] = []
    agent = b""
    for name, value in scope["headers"]:
        if name == _TRACEPARENT:
            parents.append(value)
        elif name == _TRACESTATE:
            states.append(value)
        elif name == b"user-agent":
            agent = value
    span = tracer.start(
        _method(scope),
        "server",
        _attributes(scope, agent, request_id),
        parent=parents[0].decode("latin-1") if len(parents) == 1 else None,
        state=b",".join(states).decode("latin-1") if states else None,
    )
    CURRENT.set(span)
    return span


def end_request(span: Span, scope: Scope, status: int) -> None:
    """End the span with the route that matched, if any, and the status, which from 500 on is an error."""
    route: str = scope.get(TEMPLATE, "") or getattr(scope.get("route"), "path", "")
    outcome: dict[str, Value] = {"http.response.status_code": status}
    name = None
    if route:
        outcome["http.route"] = route
        name = f"{_method(scope)} {route}"
    span.set(outcome)
    span.end(name=name, error=str(status) if status >= 500 else None)


def _method(scope: Scope) -> str:
    return scope["method"] if scope["method"] in METHODS else "HTTP"


def _attributes(scope: Scope, agent: bytes, request_id: str) -> Attributes:
    method: str = scope["method"]
    attributes: dict[str, Value] = {
        "http.request.method": method if method in METHODS else OTHER_METHOD_OF_SPANS,
        "url.scheme": scope.get("scheme", "http"),
        "url.path": scope["path"][:MAX_TEXT],
        "network.protocol.version": scope.get("http_version", "1.1"),
        "relevance.request_id": request_id,
    }
    if method not in METHODS:
        attributes["http.request.method_original"] = method[:MAX_TEXT]
    if agent:
        attributes["user_agent.original"] = agent[:MAX_TEXT].decode("latin-1")
    if (client := scope.get("client")) is not None:
        attributes["network.peer.address"] = client[0]
    return attributes
