"""The spans of requests, with the attribute names of OpenTelemetry's semantic conventions for HTTP servers.

They have no query, no body and no headers but `User-Agent`.
"""

from starlette.types import Scope

from app.http.paths import METRICS, TEMPLATE, is_protected
from app.http.request_metrics import METHODS
from app.tracing.spans import CURRENT, NO_SPAN, TRACEPARENT, TRACESTATE, Attributes, Span, Tracer, Value

_TRACEPARENT, _TRACESTATE = TRACEPARENT.encode(), TRACESTATE.encode()
OTHER_METHOD = "_OTHER"

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
        "http.request.method": method if method in METHODS else OTHER_METHOD,
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
