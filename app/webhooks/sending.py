"""One HTTP request, of whose response only the status is read.

The host is resolved here and the request goes to an address that was checked: a client that resolves the name again may
be led elsewhere.
"""

import asyncio
import socket
import ssl
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address
from threading import Event, Thread
from typing import Protocol, TypeAlias, runtime_checkable

import httpx

from app.addresses import Address, Allowance, Target
from app.jobs.worker.attempts import Interrupted
from relevance_bayes.records.webhooks import DeliveryError

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
