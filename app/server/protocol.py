"""The HTTP/1.1 protocol of one connection: uvicorn's, with limits on requests."""

import asyncio
from collections.abc import Iterable
from http import HTTPStatus
from typing import TypeAlias

import httptools
import structlog
from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from app.http.problems import REQUEST_ID, ProblemKind, problem_response
from app.http.response_headers import SECURITY_HEADERS, encoded
from app.identity import new_request_id
from app.server.server import Config

MAX_PATH = 1024
"""The maximum number of characters of a path that a problem repeats."""

_SECURITY = encoded(SECURITY_HEADERS)

MALFORMED = ProblemKind(400, "malformed-request", "Malformed HTTP request")
REQUEST_TIMEOUT = ProblemKind(408, "request-timeout", "Request timeout")
URI_TOO_LONG = ProblemKind(414, "uri-too-long", "URI too long")
HEADERS_TOO_LARGE = ProblemKind(431, "headers-too-large", "Request header fields too large")


class RefusedError(Exception):
    """Raised for a request that is refused with a problem of this kind and whose connection is closed."""

    def __init__(self, kind: ProblemKind, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


def refusal(error: RefusedError, url: bytes, headers: Iterable[tuple[bytes, bytes]]) -> tuple[str, bytes]:
    """Return the id and the bytes of the response to a request for `url`, with `headers` besides its own."""
    request_id = new_request_id()
    scope: Scope = {"path": _path(url), "state": {REQUEST_ID: request_id}}
    response = problem_response(scope, error.kind, detail=error.detail)
    status = HTTPStatus(response.status_code)
    lines = [
        f"HTTP/1.1 {status.value} {status.phrase}".encode(),
        *(b"%b: %b" % field for field in (*headers, *response.raw_headers, *_SECURITY)),
        f"x-request-id: {request_id}".encode(),
        b"connection: close",
    ]
    return request_id, b"\r\n".join(lines) + b"\r\n\r\n" + bytes(response.body)


def _path(url: bytes) -> str:
    """Return the path of a request target, which may be malformed or empty."""
    path = url.partition(b"?")[0]
    return path.decode("ascii", errors="replace")[:MAX_PATH] if path.startswith(b"/") else "/"


Piece: TypeAlias = bytes | bytearray | memoryview

MAX_BUFFERED = 65_536
"""The maximum number of buffered bytes, so that long responses are not delayed and slow clients are detected."""


class CoalescingTransport(asyncio.Transport):
    """Coalesces the writes of one iteration of the event loop; it implements the part of a transport that uvicorn uses.

    uvicorn writes the head of a response separately. A second packet wakes the client twice, which costs as much as a
    prediction. Responses that are ready at the same time are sent together, so fewer clients wake early and the last
    one waits less.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._transport = transport
        self._loop = loop
        self._pending: list[Piece] = []
        self._size = 0

    def write(self, data: Piece) -> None:
        """Buffer `data` until the event loop's next iteration."""
        if not self._pending:
            self._loop.call_soon(self._flush)
        self._pending.append(data)
        self._size += len(data)
        if self._size > MAX_BUFFERED:
            self._flush()

    def _flush(self) -> None:
        pending, self._pending, self._size = self._pending, [], 0
        if pending and not self._transport.is_closing():
            self._transport.writelines(pending)

    def close(self) -> None:
        """Write the buffer, then close."""
        self._flush()
        self._transport.close()

    def write_eof(self) -> None:
        """Write the buffer, then close the sending half."""
        self._flush()
        if not self._transport.is_closing():
            self._transport.write_eof()

    def get_write_buffer_size(self) -> int:
        """Return the number of bytes that are not sent yet."""
        return self._size + self._transport.get_write_buffer_size()

    def abort(self) -> None:
        """Close at once and drop the buffer."""
        self._transport.abort()

    def is_closing(self) -> bool:
        """Return whether it is closed or closing."""
        return self._transport.is_closing()

    def pause_reading(self) -> None:
        """Pause reading: further data stays in the kernel's buffer."""
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Resume reading."""
        self._transport.resume_reading()

    def get_extra_info(self, name: str, default: object = None) -> object:
        """Return information about the connection."""
        return self._transport.get_extra_info(name, default)


FRAMING_PER_BODY_BYTE = 8
"""The number of framing bytes (chunk sizes) allowed for each byte of a chunked body; a chunk of one byte has five."""

MAX_PIPELINED = 16
"""The maximum number of requests that a client may send before the response to an earlier one (pipelining)."""

NOT_HTTP = "Expected an HTTP/1.1 request, got bytes that cannot be parsed as one."

log = structlog.stdlib.get_logger("app.connections")


class Http1Protocol(HttpToolsProtocol):
    """uvicorn's protocol over a `CoalescingTransport`, with bounded header sections, trailers and waiting times.

    httptools reports no event inside a header field, and turns exceptions of its callbacks into parser errors. So the
    bytes are counted before they are parsed: `_framing` is the number of bytes received since the last request, header
    section or body data ended, and never more than `max_header_bytes` are given to the parser at a time.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, object],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._limits = config.limits
        self._max_framing = config.limits.max_header_bytes
        self._open = config.open_connections
        self._framing = 0
        self._in_body = False
        self._is_awaited = False
        self._is_refused = False
        self._last_cycle: RequestResponseCycle | None = None
        self._previous_cycle: RequestResponseCycle | None = None
        self.received = 0
        self.url = b""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """Start a connection; where there are too many, another one is closed."""
        super().connection_made(CoalescingTransport(transport, self.loop))
        if len(self.connections) > self._limits.max_connections:
            self._evict_one()
        self._await_head()

    def _evict_one(self) -> None:
        """Close the connection longest without a complete header section, else an idle one, else this one."""
        if not self._open.evict_one():
            others = (one for one in self.connections if isinstance(one, Http1Protocol) and one is not self)
            next((one for one in others if one.is_closable()), self).evict()

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection from the table."""
        self._open.forget(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse received bytes, in chunks within the limit; refuse requests that are malformed or exceed a limit."""
        self._unset_keepalive_if_required()
        if self._is_refused:
            return
        try:
            space = self._max_framing - self._framing
            if len(data) <= space:
                self._framing += len(data)
                self.parser.feed_data(data)
            else:
                self._feed_in_pieces(memoryview(data))
        except httptools.HttpParserUpgrade:
            self.cycle.keep_alive = False  # the bytes after it can't be parsed
        except httptools.HttpParserError as error:
            cause = error.__context__
            self._refuse(cause if isinstance(cause, RefusedError) else RefusedError(MALFORMED, NOT_HTTP))
        except RefusedError as error:
            self._refuse(error)
        else:
            if self._framing or self._in_body:
                self._await_rest(len(data))

    def _feed_in_pieces(self, data: memoryview) -> None:
        while data:
            space = self._max_framing - self._framing
            if space <= 0:
                raise self._too_large()
            piece, data = data[:space], data[space:]
            self._framing += len(piece)
            self.parser.feed_data(piece)

    def _too_large(self) -> RefusedError:
        maximum = self._max_framing
        if self._in_body:
            return RefusedError(
                HEADERS_TOO_LARGE, f"Expected trailers and chunk extensions of at most {maximum} bytes."
            )
        if len(self.url) > maximum // 2:
            return RefusedError(URI_TOO_LONG, f"Expected request line and headers of at most {maximum} bytes.")
        return RefusedError(HEADERS_TOO_LARGE, f"Expected request line and headers of at most {maximum} bytes.")

    def _await_rest(self, size: int) -> None:
        """Start the time limit of a request that has begun to arrive and is incomplete; most arrive in one segment."""
        self.received += size
        if not self._is_awaited:
            if self._in_body and not self.cycle.response_complete:
                self.received = 0
                self._is_awaited = True
                self._open.await_body(self, self.loop.time())
            else:
                self._await_head()

    def _await_head(self) -> None:
        self._is_awaited = True
        self._open.await_head(self, self.loop.time())

    def _end_wait(self) -> None:
        self._is_awaited = False
        self._open.forget(self)

    def on_headers_complete(self) -> None:
        """Start a request with the header fields received so far; later ones are trailers, which are dropped."""
        maximum = self._limits.max_header_fields
        if len(self.headers) > maximum:
            raise RefusedError(HEADERS_TOO_LARGE, f"Expected at most {maximum} header fields, got {len(self.headers)}.")
        if len(self.pipeline) >= MAX_PIPELINED:
            raise RefusedError(MALFORMED, f"Expected at most {MAX_PIPELINED} pipelined requests, got more.")
        self._previous_cycle = self.cycle
        super().on_headers_complete()
        if self._open.is_draining:
            self.announce_close()
        # RFC 9110, 6.5: trailers must not be merged into the header section, or they could carry credentials.
        self.headers = []
        self._framing = 0
        self._in_body = True
        if self._is_awaited:
            self._end_wait()

    def on_body(self, body: bytes) -> None:
        """Receive a part of the body."""
        self._framing = max(0, self._framing - len(body) * (1 + FRAMING_PER_BODY_BYTE))
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request's body."""
        maximum = self._limits.max_header_fields
        if len(self.headers) > maximum:
            raise RefusedError(
                HEADERS_TOO_LARGE, f"Expected at most {maximum} trailer fields, got {len(self.headers)}."
            )
        self.url = b""
        self._framing = 0
        self._in_body = False
        if self._is_awaited:
            self._end_wait()
        if self.cycle.response_complete:
            self._await_head()  # the rest of the body has cancelled uvicorn's timer for idle connections
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Continue with the next request; the rest of an unread body has the time limit of a header section."""
        if self._in_body:
            self._end_wait()
            self._await_head()
        super().on_response_complete()

    def announce_close(self) -> None:
        """Have the response to the newest request send `Connection: close`, unless it has begun.

        With pipelined requests, an earlier one no longer does.
        """
        last = self._last_cycle
        if last is not None and not last.response_started:
            last.keep_alive = True
        if not self.is_idle() and not self.cycle.response_started and self.cycle.keep_alive:
            self.cycle.keep_alive = False
            self._last_cycle = self.cycle

    def shutdown(self) -> None:
        """Close if the connection is idle, otherwise after the response; a partly received request is served."""
        is_arriving = self._framing and not self._in_body and not self._is_refused
        if not (self.is_idle() and is_arriving):
            super().shutdown()

    def is_reading(self) -> bool:
        """Return whether the request waits for its client: reading is not paused, and no response has begun.

        A client may read the response while it sends, so after its beginning the body has no time limit.
        """
        cycle = self.cycle
        return not (self.flow.read_paused or cycle.waiting_for_100_continue or cycle.response_started)

    def is_closable(self) -> bool:
        """Return whether the connection can be closed without loss: no open request, and no response being sent."""
        return self.is_idle() and not self.transport.get_write_buffer_size()

    def is_idle(self) -> bool:
        """Return whether no request is open."""
        return self.cycle is None or self.cycle.response_complete  # type: ignore[redundant-expr]  # None at first

    def head_timed_out(self) -> None:
        """Refuse a header section that took too long, or close a connection on which none began."""
        seconds = self._limits.header_timeout_seconds
        if self._is_refused or (self.is_idle() and (self._in_body or not self._framing)):
            self.evict()
        else:
            self._refuse(RefusedError(REQUEST_TIMEOUT, f"Expected a header section within {seconds:g} seconds."))

    def body_too_slow(self) -> None:
        """Refuse a body that is too slow."""
        minimum = self._limits.min_body_bytes_per_second
        self._refuse(
            RefusedError(REQUEST_TIMEOUT, f"Expected a body at {minimum:g} bytes per second or more, got less.")
        )

    def evict(self) -> None:
        """Close without a response."""
        self._open.forget(self)
        self.transport.abort()

    def _refuse(self, error: RefusedError) -> None:
        """Respond with a problem, unless a response is being sent, and stop reading.

        The client may still be sending, and an immediate close would reset the connection before it has read the
        response. So only the sending half is closed, further data is dropped, and the periodic check closes the
        connection.
        """
        self._is_refused = True
        self._open.forget(self)
        if self._in_body and self.pipeline:  # the newest pipelined request is this one, which waits for earlier ones
            self.pipeline.popleft()
            self.cycle, self._in_body = self._previous_cycle, False  # type: ignore[assignment]  # there is one before
        if not self._in_body and not self.is_idle():
            self.cycle.keep_alive = False  # closes after the responses to earlier requests
            return
        if self._in_body:
            if self.cycle.response_started:
                self.transport.close()
                return
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        request_id, response = refusal(error, self.url, self.server_state.default_headers)
        status, peer = error.kind.status, self.client[0] if self.client else None
        log.info("refused", status=status, detail=error.detail, peer=peer, request_id=request_id)
        self.flow.resume_reading()
        self.transport.write(response)
        self.transport.write_eof()
        self._await_head()
