"""One delivery attempt of a message to a webhook: its HTTP request, and the queue entry of the next attempt.

Only the status of the response is read. The host is resolved here and the request goes to an address that was checked:
a client that resolves the name again may be led elsewhere.
"""

import asyncio
import logging
import random
import socket
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address
from threading import Event, Thread
from typing import Protocol, TypeAlias, runtime_checkable
from uuid import UUID

import httpx

from app import __version__
from app.addresses import Address, Allowance, Target, read_target
from app.database.transaction import Clock, OpenTransaction, Transaction
from app.jobs.records import Recovery
from app.jobs.repository import JobRepository
from app.jobs.worker.attempts import Interrupted, retry
from app.outcomes.repository import AlarmRepository
from app.tracing.spans import CURRENT, NO_TRACER, TRACEPARENT, TRACESTATE, Span, Tracer
from app.webhooks.messages import alarm_message, job_message, trial_message
from app.webhooks.records import GONE, PAUSES, DeliveryAttempt, signature
from app.webhooks.repository import AttemptRepository, WebhookRepository
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.records.webhooks import Attempt, DeliveryError

SECONDS = 10.0
"""Seconds for one attempt, from the DNS lookup to the status."""

CONNECT_SECONDS = 4.0
"""Seconds of these for one connection, and again for its TLS handshake; less than a worker's grace period."""

LAST_SECONDS = 2.0
"""Seconds for a request in progress at shutdown; an unfinished one is interrupted, and sent again by another worker."""

CHECK_SECONDS = 0.25

MAX_BODY_BYTES, BODY_SECONDS = 16 * 1024, 0.5
"""The part of a response's body that is read and discarded."""

SocketAddress: TypeAlias = tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]
Found: TypeAlias = tuple[socket.AddressFamily, socket.SocketKind, int, str, SocketAddress]


@dataclass(frozen=True)
class Deadline:
    """The seconds of one attempt; it ends `LAST_SECONDS` after `stopping` is set, if that is earlier."""

    stopping: Event
    seconds: float = SECONDS

    async def stopped(self) -> None:
        """Wait for a shutdown and its last seconds."""
        while not self.stopping.is_set():
            await asyncio.sleep(CHECK_SECONDS)
        await asyncio.sleep(LAST_SECONDS)


class NotSent(Exception):
    """The request got no status; `reason` is the reason."""

    def __init__(self, reason: DeliveryError) -> None:
        super().__init__(reason)
        self.reason: DeliveryError = reason


def post(target: Target, headers: Mapping[str, str], body: bytes, *, allowed: Allowance, deadline: Deadline) -> int:
    """Return the status of the response; redirects are not followed. Raises NotSent, Interrupted."""
    return asyncio.run(_in_time(target, headers, body, allowed, deadline))


async def _in_time(
    target: Target, headers: Mapping[str, str], body: bytes, allowed: Allowance, deadline: Deadline
) -> int:
    """Bound the whole attempt: timeouts of a client bound each read, which a server can prolong byte by byte."""
    sending = asyncio.create_task(_status(target, headers, body, allowed))
    stopped = asyncio.create_task(deadline.stopped())
    await asyncio.wait((sending, stopped), timeout=deadline.seconds, return_when=asyncio.FIRST_COMPLETED)
    if sending.done():
        return sending.result()
    if stopped.done():
        raise Interrupted
    raise NotSent("timeout")


async def _status(target: Target, headers: Mapping[str, str], body: bytes, allowed: Allowance) -> int:
    """Send the request to the first address that accepts a connection."""
    refusal = NotSent("name-not-found")
    for address in await _addresses(target, allowed):
        try:
            return await _sent(target, address, headers, body)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            refusal = NotSent(_reason(error))
        except httpx.TransportError as error:
            raise NotSent(_reason(error)) from error
    raise refusal


async def _addresses(target: Target, allowed: Allowance) -> Sequence[Address]:
    """Return all addresses of a host, if each of them is allowed."""
    try:
        looked_up = await asyncio.wrap_future(_look_up(target))
    except OSError as error:
        raise NotSent("name-not-found") from error
    addresses = [ip_address(str(address[0])) for *_, address in looked_up]
    if not all(allowed.admits(target, address) for address in addresses):
        raise NotSent("address-refused")
    return addresses


def _look_up(target: Target) -> Future[Sequence[Found]]:
    """Resolve a host in a daemon thread: a lookup has no timeout, and a process that ends waits for other threads."""
    found = Future[Sequence[Found]]()

    def look() -> None:
        with suppress(InvalidStateError):  # of a lookup that was given up
            try:
                found.set_result(socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM))
            except OSError as error:
                found.set_exception(error)

    Thread(target=look, name="look-up", daemon=True).start()
    return found


@runtime_checkable
class _Stream(Protocol):
    """A connection, as httpcore has it."""

    async def aclose(self) -> None:
        """Close it; if it is closed it stays so."""


async def _sent(target: Target, address: Address, headers: Mapping[str, str], body: bytes) -> int:
    """Send the request to an address; the certificate is verified for the host."""
    connected = list[_Stream]()

    async def trace(event: str, info: Mapping[str, object]) -> None:
        if event == "connection.connect_tcp.complete" and isinstance(stream := info["return_value"], _Stream):
            connected.append(stream)

    request = httpx.Request(
        "POST",
        httpx.URL(scheme=target.scheme, host=str(address), port=target.port),
        headers={
            "Host": target.authority,
            "Content-Type": "application/json",
            "Connection": "close",
            **headers,
        },
        content=body,
        extensions={
            "target": target.path.encode("ascii"),
            "sni_hostname": target.host.rstrip("."),
            "timeout": {"connect": CONNECT_SECONDS},
            "trace": trace,
        },
    )
    try:
        async with httpx.AsyncHTTPTransport(verify=_trust(), trust_env=False) as transport:
            response = await transport.handle_async_request(request)
            await _discard(response)
            return response.status_code
    finally:
        for stream in connected:  # httpcore leaves one open that is cancelled in its TLS handshake
            await stream.aclose()


@cache
def _trust() -> ssl.SSLContext:
    """Return a TLS context with the machine's trusted certificates."""
    return ssl.create_default_context()


async def _discard(response: httpx.Response) -> None:
    """Read a little of the body, lest the server gets a reset while it sends it; errors are ignored."""
    length = 0
    with suppress(httpx.TransportError, TimeoutError):
        async with asyncio.timeout(BODY_SECONDS):
            async for piece in response.aiter_raw():
                length += len(piece)
                if length >= MAX_BODY_BYTES:
                    break


def _reason(error: httpx.TransportError) -> DeliveryError:
    if any(isinstance(cause, ssl.SSLError) for cause in _causes(error)):
        return "tls"
    match error:
        case httpx.TimeoutException():
            return "timeout"
        case httpx.RemoteProtocolError() if "disconnected" not in str(error):
            return "not-http"
        case _:
            return "not-connected"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def post_to_operator(url: str, content: bytes) -> None:
    """Send JSON to a URL that the operator has set; raises OSError where the response is not a success."""
    try:
        with httpx.Client(verify=_trust(), trust_env=False, timeout=SECONDS) as client:
            response = client.post(url, content=content, headers={"Content-Type": "application/json"})
    except httpx.HTTPError as error:
        raise OSError(f"{type(error).__name__}: {error}") from error
    if not response.is_success:
        raise OSError(f"the receiver responded with status {response.status_code}")


logger = logging.getLogger(__name__)

LATER = 0.1
"""The most jitter of a retry's delay, as a share, so that deliveries which failed together are not retried together."""

OVERDUE_SECONDS = 60.0
OVERDUE_AT_ONCE = 1000


class Post(Protocol):
    """Sends one request, and returns the status."""

    def __call__(
        self, target: Target, headers: Mapping[str, str], body: bytes, *, allowed: Allowance, deadline: Deadline
    ) -> int: ...


@dataclass(frozen=True)
class Deliverer:
    """Makes delivery attempts, any number at a time; waits for a lost database before and after, in no transaction.

    Where a worker dies between the request and its record, another one makes the attempt again: delivery is at least
    once, with the same id. The `tracer` traces attempts, and receivers get the trace context of theirs.
    """

    transaction: OpenTransaction
    allowed: Allowance
    clock: Clock
    stopping: Event
    pauses: Sequence[float] = PAUSES
    post: Post = post
    tracer: Tracer = NO_TRACER

    def __call__(self, entry: UUID) -> bool:
        """Make the attempt of a queue entry; return False where it is interrupted."""
        try:
            if self.stopping.is_set():
                return False
            found = retry(self.transaction, lambda tx: _read(entry, tx), stopping=self.stopping)
            if found is not None:
                delivery_attempt, body = found
                attempt = self._traced_attempt(delivery_attempt, body)
                retry(
                    self.transaction,
                    lambda tx: self._record(entry, delivery_attempt, attempt, tx),
                    stopping=self.stopping,
                )
        except Interrupted:
            return False
        return True

    def _traced_attempt(self, delivery_attempt: DeliveryAttempt, body: bytes) -> Attempt:
        """Make the attempt in a span of its own, which ends with the queue entry where it is interrupted."""
        span = self.tracer.start(
            "POST",
            "client",
            {
                "http.request.method": "POST",
                "http.request.resend_count": delivery_attempt.tries,
                "relevance.webhook.id": str(delivery_attempt.webhook_id),
                "relevance.webhook.delivery_id": str(delivery_attempt.delivery_id),
            },
            parent=delivery_attempt.traceparent,
            state=delivery_attempt.tracestate,
        )
        CURRENT.set(span)
        attempt = self._attempt(delivery_attempt, body, span)
        if attempt.status is not None:
            span.set({"http.response.status_code": attempt.status})
        span.end(error=None if attempt.has_succeeded else str(attempt.error or attempt.status))
        return attempt

    def _attempt(self, delivery_attempt: DeliveryAttempt, body: bytes, span: Span) -> Attempt:
        at, began = self.clock(), time.monotonic()
        if not delivery_attempt.enabled:
            return Attempt(at, 0.0, error="disabled")
        given = int(at.timestamp())
        headers = {
            "User-Agent": f"Relevance/{__version__}",
            "webhook-id": str(delivery_attempt.event_id),
            "webhook-timestamp": str(given),
            "webhook-signature": signature(delivery_attempt.secret, str(delivery_attempt.event_id), given, body),
        }
        if span.traceparent is not None:
            headers[TRACEPARENT] = span.traceparent
            if span.tracestate is not None:
                headers[TRACESTATE] = span.tracestate
        try:
            target = read_target(delivery_attempt.url)
            span.set({"server.address": target.host, "server.port": target.port})
            status = self.post(target, headers, body, allowed=self.allowed, deadline=Deadline(self.stopping))
        except NotSent as error:
            return Attempt(at, time.monotonic() - began, error=error.reason)
        except InvalidRequestError:  # a URL that was allowed when it was registered
            return Attempt(at, time.monotonic() - began, error="address-refused")
        return Attempt(at, time.monotonic() - began, status=status)

    def _record(self, entry: UUID, delivery_attempt: DeliveryAttempt, attempt: Attempt, tx: Transaction) -> None:
        unwanted = attempt.status == GONE or attempt.error == "disabled"
        retry_in = None if unwanted else self.pause(delivery_attempt.tries)
        if not AttemptRepository(tx).record(entry, attempt, retry_in=retry_in):
            return
        if attempt.status == GONE:
            WebhookRepository(tx).disable(delivery_attempt.webhook_id)
        if not attempt.has_succeeded:
            logger.info(
                "webhook delivery attempt failed",
                extra={
                    "webhook": delivery_attempt.webhook_id,
                    "delivery": delivery_attempt.delivery_id,
                    "why": attempt.error or attempt.status,
                    "again_in": retry_in,
                },
            )

    def pause(self, tries: int) -> float | None:
        """Return the seconds to the next attempt after so many failed ones before this; None where it was the last."""
        if tries >= len(self.pauses):
            return None
        return self.pauses[tries] * (1 + LATER * random.random())


@dataclass(frozen=True)
class Finder:
    """Finds attempts whose queue entry ended or is missing, and queues them again."""

    deliverer: Deliverer
    recovery: Recovery

    def find(self) -> None:
        """Record each as a failed attempt; raises UnavailableError."""
        deliverer = self.deliverer
        with deliverer.transaction() as tx:
            late = dict(AttemptRepository(tx).overdue(seconds=OVERDUE_SECONDS, limit=OVERDUE_AT_ONCE))
        for entry in self.recovery.endings(list(late)):
            attempt = Attempt(deliverer.clock(), 0.0, error="interrupted")
            with deliverer.transaction() as tx:
                AttemptRepository(tx).record(entry, attempt, retry_in=deliverer.pause(late[entry]))
            logger.warning("webhook delivery attempt lost", extra={"entry": entry})


def _read(entry: UUID, tx: Transaction) -> tuple[DeliveryAttempt, bytes] | None:
    """Return the attempt of a queue entry, with its message."""
    delivery_attempt = AttemptRepository(tx).find(entry)
    if delivery_attempt is None:
        return None
    if delivery_attempt.alarm_id is not None:
        alarm = AlarmRepository(tx).find(delivery_attempt.alarm_id)
        return None if alarm is None else (delivery_attempt, alarm_message(delivery_attempt.type, alarm))
    if delivery_attempt.job_id is None:
        return delivery_attempt, trial_message(delivery_attempt.webhook_id, delivery_attempt.created_at)
    job = JobRepository(tx).find(delivery_attempt.job_id)
    return None if job is None else (delivery_attempt, job_message(delivery_attempt.type, job))
