"""The calls of the protocol over gRPC, equivalent to /v2, and their server on the event loop of the HTTP server."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar
from urllib.parse import unquote

import grpc
import structlog
from anyio import to_thread
from google.protobuf.message import DecodeError, Message

from app import __version__
from app.audit.refusals import LimitedRefusals
from app.errors import MalformedBodyError, RateLimitError
from app.http.authentication import HOW_TO_SEND, PROJECT_HEADER, Authenticator, in_project, joined
from app.http.dependencies import Services
from app.http.health import ReadinessProbe, Shutdown
from app.http.middleware import request_id_of
from app.http.origins import Hosts, actor_of
from app.http.problems import kind_of
from app.http.rate_limits import CURRENT as RATES
from app.http.rate_limits import RateLimits, Unlimited
from app.http.response_headers import CURRENT_STALENESS, Staleness
from app.identity import LOCAL, Principal
from app.inference.rpc.generated import open_inference_pb2 as messages
from app.inference.rpc.messages import OF_INFERENCE, RpcCodec, check_fields
from app.inference.rpc.relay import LOOPBACK, Relay
from app.inference.signature import EXTENSIONS, PLATFORM, SERVER, Kind, described
from app.origin import Origin, acting
from app.prediction.runner import MAX_QUICK_BYTES, PredictionRunner
from app.prediction.served_versions import ServedVersions
from app.tracing.spans import CURRENT as SPAN
from app.tracing.spans import CURRENT_REQUEST, NO_SPAN, TRACEPARENT, TRACESTATE, Span, Tracer
from relevance_bayes.records.accounts import KeyScope
from relevance_bayes.records.errors import NotFoundError, RelevanceError, sentence
from relevance_bayes.records.models import Reference

Requested = TypeVar("Requested", bound=Message)
Answered = TypeVar("Answered", bound=Message)
Context: TypeAlias = "grpc.aio.ServicerContext[bytes, Answered]"

NAME = "inference.GRPCInferenceService"

REQUEST_ID_KEY = "x-request-id"

CODES: Mapping[int, grpc.StatusCode] = {
    400: grpc.StatusCode.INVALID_ARGUMENT,
    403: grpc.StatusCode.PERMISSION_DENIED,
    404: grpc.StatusCode.NOT_FOUND,
    409: grpc.StatusCode.FAILED_PRECONDITION,
    413: grpc.StatusCode.RESOURCE_EXHAUSTED,
    421: grpc.StatusCode.PERMISSION_DENIED,
    422: grpc.StatusCode.INVALID_ARGUMENT,
    429: grpc.StatusCode.RESOURCE_EXHAUSTED,
    501: grpc.StatusCode.UNIMPLEMENTED,
    503: grpc.StatusCode.UNAVAILABLE,
    507: grpc.StatusCode.RESOURCE_EXHAUSTED,
}
"""gRPC's status codes by the HTTP statuses of problems; INTERNAL for all others."""

ERRORS = frozenset({"UNKNOWN", "DEADLINE_EXCEEDED", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"})
"""The codes by which a server's span is an error, by OpenTelemetry's semantic conventions."""

log = structlog.stdlib.get_logger("app.requests")


class InferenceService:
    """Serves calls with an API key of the scope `predict`; metadata are for `read` too, and probes need none."""

    def __init__(
        self,
        services: Services,
        authenticator: Authenticator,
        rate_limits: RateLimits,
        *,
        log_requests: bool,
        tracer: Tracer | None = None,
        hosts: Hosts | None = None,
        relay: Relay | None = None,
    ) -> None:
        self._services = services
        self._readiness = services[ReadinessProbe]
        self._runner = services[PredictionRunner]
        self._authenticator = authenticator
        self._rate_limits = rate_limits
        self._shutdown = services[Shutdown]
        self._log = log_requests
        self._tracer = tracer
        self._hosts = hosts or Hosts()
        self._relay = relay

    async def live(self, _: Principal, __: messages.ServerLiveRequest) -> messages.ServerLiveResponse:
        """Respond while the process runs."""
        return messages.ServerLiveResponse(live=True)

    async def ready(self, _: Principal, __: messages.ServerReadyRequest) -> messages.ServerReadyResponse:
        """Return whether the process can predict and does not shut down."""
        report = await self._readiness.readiness()
        is_ready = report.can_predict and not self._shutdown.is_requested
        return messages.ServerReadyResponse(ready=is_ready)

    async def server(self, _: Principal, __: messages.ServerMetadataRequest) -> messages.ServerMetadataResponse:
        """Return the server's metadata."""
        return messages.ServerMetadataResponse(name=SERVER, version=__version__, extensions=EXTENSIONS)

    async def model_ready(
        self, caller: Principal, requested: messages.ModelReadyRequest
    ) -> messages.ModelReadyResponse:
        """Return true for an existing model: all versions are ready."""
        reference = _reference(requested.name, requested.version)
        await to_thread.run_sync(self._services[ServedVersions].version, caller.owner, *reference)
        return messages.ModelReadyResponse(ready=True)

    async def model(
        self, caller: Principal, requested: messages.ModelMetadataRequest
    ) -> messages.ModelMetadataResponse:
        """Return a model's versions and tensors."""
        reference = _reference(requested.name, requested.version)
        found = await to_thread.run_sync(described, self._services, caller.owner, reference)
        return messages.ModelMetadataResponse(
            name=found.name,
            versions=found.versions,
            platform=PLATFORM,
            inputs=map(_kind, found.inputs),
            outputs=map(_kind, found.outputs),
        )

    async def infer(self, caller: Principal, requested: messages.ModelInferRequest) -> messages.ModelInferResponse:
        """Infer outputs from tensors."""
        reference = _reference(requested.model_name, requested.model_version)
        served = await self._runner.served(caller.owner, reference)
        rendered, _ = await self._runner.predict(served, RpcCodec(requested, self._runner.max_rows))
        return rendered[0]

    def handlers(self) -> grpc.GenericRpcHandler:
        """Return the handlers of all calls by name."""
        return grpc.method_handlers_generic_handler(
            NAME,
            {
                "ServerLive": self._handler(messages.ServerLiveRequest, self.live, is_open=True),
                "ServerReady": self._handler(messages.ServerReadyRequest, self.ready, is_open=True),
                "ServerMetadata": self._handler(messages.ServerMetadataRequest, self.server),
                "ModelReady": self._handler(messages.ModelReadyRequest, self.model_ready),
                "ModelMetadata": self._handler(messages.ModelMetadataRequest, self.model),
                "ModelInfer": self._handler(messages.ModelInferRequest, self.infer, scopes=("predict",)),
            },
        )

    def _handler(
        self,
        requested: type[Requested],
        call: Callable[[Principal, Requested], Awaitable[Answered]],
        *,
        scopes: tuple[KeyScope, ...] = ("predict", "read"),
        is_open: bool = False,
    ) -> "grpc.RpcMethodHandler[bytes, Answered]":
        """Return the handler of a call; with `is_open` it needs no key, else one with any of the `scopes`.

        Messages without a valid key are not parsed.
        """

        name = requested.__name__.removesuffix("Request")

        async def response(request: bytes, context: "Context[Answered]") -> Answered:
            began, code, detail = time.perf_counter(), grpc.StatusCode.OK, ""
            retry_after: tuple[tuple[str, str], ...] = ()
            staleness = Staleness()
            CURRENT_STALENESS.set(staleness)
            request_id = self._request_id(context)
            trailing = ((REQUEST_ID_KEY, request_id),)
            span = NO_SPAN if is_open else self._start_span(name, request_id, context)
            try:
                principal = LOCAL if is_open else await self._principal(context)
                if principal is None:
                    code, detail = grpc.StatusCode.UNAUTHENTICATED, HOW_TO_SEND
                elif not principal.has_any(scopes):
                    code, detail = grpc.StatusCode.PERMISSION_DENIED, principal.lacks(scopes)
                    await self._record_refusal(principal, name, self._peer(context))
                else:
                    if not is_open:
                        self._take_request(principal)
                    answered = await call(principal, await self._parsed(requested, request))
                    stale = (
                        () if staleness.age is None else (("age", f"{int(staleness.age)}"), ("relevance-stale", "1"))
                    )
                    context.set_trailing_metadata((*trailing, *stale))
                    return answered
            except RelevanceError as error:
                code, detail = CODES.get(kind_of(error).status, grpc.StatusCode.INTERNAL), sentence(error.detail)
                if isinstance(error, RateLimitError):
                    retry_after = (("retry-after", f"{error.retry_after}"),)
                error.__traceback__ = None  # refers to the future of a thread, which refers to the error
            except Exception as error:
                # As for HTTP: gRPC's own handler would send the exception to the client.
                log.error("unexpected", call=name, exc_info=error)
                code, detail = grpc.StatusCode.INTERNAL, "The service failed unexpectedly."
            finally:
                if span is not NO_SPAN:
                    span.set({"rpc.response.status_code": code.name})
                    span.end(error=code.name if code.name in ERRORS else None)
                if self._log:
                    log.info("call", call=name, status=code.name, ms=round((time.perf_counter() - began) * 1000, 2))
            await context.abort(code, detail, (*trailing, *retry_after))

        return grpc.unary_unary_rpc_method_handler(response, response_serializer=_bytes)

    def _start_span(self, call: str, request_id: str, context: "Context[Answered]") -> Span:
        """Start the span of a call and make it the current one; without a tracer it is NO_SPAN."""
        span: Span = NO_SPAN
        if self._tracer is not None:
            method = f"{NAME}/{call}"
            parents, states = _sent(context, TRACEPARENT), _sent(context, TRACESTATE)
            span = self._tracer.start(
                method,
                "server",
                {"rpc.system.name": "grpc", "rpc.method": method, "relevance.request_id": request_id},
                parent=parents[0].decode("latin-1") if len(parents) == 1 else None,
                state=b",".join(states).decode("latin-1") if states else None,
            )
        SPAN.set(span)
        return span

    def _request_id(self, context: "Context[Answered]") -> str:
        """Return the id that the client has sent, or a new one, after making it that of the current request."""
        sent = _sent(context, REQUEST_ID_KEY)
        request_id = request_id_of(sent[0] if sent else b"")
        CURRENT_REQUEST.set(request_id)
        return request_id

    def _peer(self, context: "Context[Answered]") -> str:
        return context.peer() if self._relay is None else self._relay.peer(context.peer())

    def _take_request(self, principal: Principal) -> None:
        """Count a call of a principal's owner; raises RateLimitError."""
        rates = self._rate_limits.of(principal.owner)
        RATES.set(rates)
        if rates is not None:
            rates.take_request()

    async def _record_refusal(self, principal: Principal, name: str, peer: str) -> None:
        refusals, author = self._services[LimitedRefusals], principal.credential.owner
        with acting(Origin(*actor_of(principal), owner=author, address=_address(peer))):
            await to_thread.run_sync(refusals.record, principal.owner, "POST", f"/{NAME}/{name}", 403)

    async def _principal(self, context: "Context[Answered]") -> Principal | None:
        """Return the principal, in the project that the metadata name; None where a key is not valid.

        Raises NotFoundError where it is no member of such a project, which counts as a call of its own owner, and,
        where no key is needed, MisdirectedError and CrossSiteError.
        """
        if await self._authenticator.is_open():
            if self._relay is not None:
                self._relay.check(context.peer())
            self._hosts.check_origins(_sent(context, "origin"))
        authorizations = _sent(context, "authorization")
        principal = self._authenticator.known(authorizations) or await self._authenticator.authenticate(authorizations)
        named = _sent(context, PROJECT_HEADER.lower())
        if principal is None or not named:
            return principal
        try:
            return await in_project(self._authenticator, principal, joined(named))
        except NotFoundError:
            self._take_request(principal)
            raise

    async def _parsed(self, requested: type[Requested], content: bytes) -> Requested:
        """Return the message in a request; raises MalformedBodyError, TooLargeError."""
        if len(content) <= MAX_QUICK_BYTES:
            return _message(requested, content)
        return await self._runner.run_large(_message, requested, content)


def _message(requested: type[Requested], content: bytes) -> Requested:
    """Parse a message; raises MalformedBodyError, TooLargeError."""
    if len(content) > MAX_QUICK_BYTES:
        check_fields(content, OF_INFERENCE)
    try:
        return requested.FromString(content)
    except DecodeError as error:
        raise MalformedBodyError("The message can't be parsed.") from error


def _bytes(answered: Message) -> bytes:
    return answered.SerializeToString()


def _reference(name: str, version: str) -> Reference:
    """Return a reference to a version; raises NotFoundError for an invalid name."""
    if "\0" in name:
        raise NotFoundError(f"There is no model {name!r}.")
    return Reference.of(name, version) if version else Reference.read(name)


def _kind(kind: Kind) -> messages.ModelMetadataResponse.TensorMetadata:
    return messages.ModelMetadataResponse.TensorMetadata(name=kind.name, datatype=kind.datatype, shape=kind.shape)


def _address(peer: str) -> str:
    """Return the address of a peer, as in `ipv4:192.0.2.1:50051` or `ipv6:%5B::1%5D:50051`."""
    return unquote(peer.partition(":")[2].rpartition(":")[0]).strip("[]")


def _sent(context: "Context[Answered]", key: str) -> list[bytes]:
    """Return the values of a key in the metadata of a call."""
    sent = context.invocation_metadata() or ()
    return [value.encode() if isinstance(value, str) else value for name, value in sent if name.lower() == key]


MAX_CONNECTIONS = 200
"""The maximum number of open connections; further ones are closed. A channel needs one for all its calls."""

MAX_RELAYED = MAX_CONNECTIONS // 3
"""The maximum number of those that are relayed, each of which takes three file descriptors."""

MAX_STREAMS = 100
"""The maximum number of concurrent calls on one connection; clients queue further ones."""

MAX_CALLS = 1000
"""The maximum number of concurrent calls over all connections; further ones are RESOURCE_EXHAUSTED."""

HANDSHAKE_SECONDS = 10
"""The maximum time for the client's HTTP/2 preface and settings."""

IDLE_SECONDS = 60
"""The time after which a connection without calls is closed; channels reconnect when necessary."""

KEEPALIVE_SECONDS = 60
KEEPALIVE_TIMEOUT_SECONDS = 20
"""The time between keepalive pings, and the time to wait for a reply before the connection is closed."""

MIN_PING_SECONDS = 10
"""The minimum time between pings of clients without data; faster ones are disconnected (ENHANCE_YOUR_CALM)."""


@dataclass(frozen=True)
class RpcRules:
    """The address to listen on (port 0: any free one), who authenticates calls, the maximum sizes of a message and
    of a call's metadata, and whether calls are logged."""

    host: str
    port: int
    authenticator: Authenticator
    max_bytes: int
    log: bool
    max_metadata_bytes: int = 32 * 1024
    grace_seconds: float = 5.0
    """The time in which open calls must complete after the server has stopped listening."""
    rate_limits: RateLimits = field(default_factory=Unlimited)
    """The limited rates of owners."""
    tracer: Tracer | None = None
    """The tracer of calls; None: nothing is traced."""
    hosts: Hosts = field(default_factory=Hosts)
    """The hosts that calls may name while they need no key."""


class CantListen(OSError):
    """Raised where the port is in use or not permitted."""


@asynccontextmanager
async def serving(services: Services, rules: RpcRules) -> AsyncIterator[int]:
    """Serve calls until listeners close, on the port that is yielded; raises CantListen."""
    shutdown = services[Shutdown]
    relay = None
    if not rules.authenticator.needs_keys:
        relay = Relay(
            rules.hosts,
            max_block_bytes=2 * rules.max_metadata_bytes,
            max_connections=MAX_RELAYED,
            max_stalled_seconds=KEEPALIVE_SECONDS + KEEPALIVE_TIMEOUT_SECONDS,
        )
    service = InferenceService(
        services,
        rules.authenticator,
        rules.rate_limits,
        log_requests=rules.log,
        tracer=rules.tracer,
        hosts=rules.hosts,
        relay=relay,
    )
    server = grpc.aio.server(
        handlers=[service.handlers()],
        options=_options(rules),
        maximum_concurrent_rpcs=MAX_CALLS,
    )
    host = f"[{rules.host}]" if ":" in rules.host else rules.host
    try:
        port = server.add_insecure_port(f"{host}:{rules.port}" if relay is None else f"{LOOPBACK}:0")
        await server.start()
        if relay is not None:
            port = await relay.listen(rules.host, rules.port, to=port)
    except (RuntimeError, OSError) as error:
        await server.stop(None)
        raise CantListen(f"gRPC can't listen on {host}:{rules.port}.") from error
    stop = asyncio.create_task(_stop_when_closing(server, relay, shutdown, rules.grace_seconds))
    try:
        yield port
    finally:
        shutdown.close()
        await stop


async def _stop_when_closing(
    server: grpc.aio.Server, relay: Relay | None, shutdown: Shutdown, grace_seconds: float
) -> None:
    """Stop with the HTTP server: open calls have the grace period, and clients reconnect to other servers."""
    await shutdown.is_closing.wait()
    if relay is not None:
        relay.stop_listening()
    await server.stop(grace_seconds)
    if relay is not None:
        await relay.close()


def _options(rules: RpcRules) -> list[tuple[str, int]]:
    """Return the channel arguments of gRPC's core (grpc/impl/channel_arg_names.h)."""
    return [
        ("grpc.max_receive_message_length", rules.max_bytes),
        ("grpc.max_send_message_length", -1),
        # Between the soft and the absolute limit gRPC refuses at random; equal ones are one exact limit.
        ("grpc.max_metadata_size", rules.max_metadata_bytes),
        ("grpc.absolute_max_metadata_size", rules.max_metadata_bytes),
        ("grpc.max_concurrent_streams", MAX_STREAMS),
        ("grpc.max_allowed_incoming_connections", MAX_CONNECTIONS),
        ("grpc.server_handshake_timeout_ms", 1000 * HANDSHAKE_SECONDS),
        ("grpc.max_connection_idle_ms", 1000 * IDLE_SECONDS),
        ("grpc.keepalive_time_ms", 1000 * KEEPALIVE_SECONDS),
        ("grpc.keepalive_timeout_ms", 1000 * KEEPALIVE_TIMEOUT_SECONDS),
        ("grpc.http2.min_ping_interval_without_data_ms", 1000 * MIN_PING_SECONDS),
        ("grpc.so_reuseport", 0),
    ]
