"""The HTTP/1.1 protocol of one connection: uvicorn's, with limits on requests."""

import asyncio

import httptools
import structlog
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from app.server.config import Config
from app.server.refusals import HEADERS_TOO_LARGE, MALFORMED, REQUEST_TIMEOUT, URI_TOO_LONG, RefusedError, refusal
from app.server.transport import CoalescingTransport

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
