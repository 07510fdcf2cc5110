"""The two drivers of the client: over httpx's blocking client, and over its asynchronous one.

Methods of both are coroutines; those of the blocking driver never suspend.
"""

import time
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar

import httpx

T = TypeVar("T")

CONNECT_SECONDS = 5.0

CHUNK_BYTES = 1 << 18
"""The bytes of a file that are read at once."""

LIMITS = httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=4.0)
"""The connections of a client; more requests wait. They are kept for less time than the service keeps them."""

Query: TypeAlias = Mapping[str, str | int | float | list[str] | None]
"""Parameters of a URL; None is left out."""

Content: TypeAlias = bytes | Path | Sequence[bytes | memoryview] | None
"""A request's content: bytes, a file, or parts, of which some kilobytes are copied at once."""


@dataclass(frozen=True)
class Outgoing:
    """A request; the service must respond within `deadline` seconds, of a stream send something within them.

    `is_repeatable`: to send it again is safe though it may have been executed.
    """

    method: str
    path: str
    query: Query | None
    headers: Mapping[str, str]
    content: Content
    deadline: float
    is_repeatable: bool


class Driver(Protocol):
    """The ways in which calls wait: for the network, for time, and for files."""

    @property
    def is_async(self) -> bool:
        """True where its coroutines need an event loop."""

    @property
    def url(self) -> str:
        """The URL of the service."""

    async def send(self, outgoing: Outgoing) -> httpx.Response:
        """Return the response to a request, with its content."""

    async def open(self, outgoing: Outgoing) -> httpx.Response:
        """Return the response to a request, before its content."""

    def chunks(self, response: httpx.Response) -> AsyncGenerator[bytes, None]:
        """Yield the content of an open response as it arrives."""

    async def read(self, response: httpx.Response) -> None:
        """Read the content of an open response."""

    async def end(self, response: httpx.Response) -> None:
        """Close an open response."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""

    async def block(self, work: Callable[[], T]) -> T:
        """Return the result of work that waits for files or processes."""

    async def close(self) -> None:
        """Close all connections."""


@dataclass(frozen=True)
class BlockingDriver:
    """Requests over httpx.Client."""

    client: httpx.Client
    is_async: bool = False

    @property
    def url(self) -> str:
        """The URL of the service."""
        return str(self.client.base_url)

    async def send(self, outgoing: Outgoing) -> httpx.Response:
        """Return the response to a request, with its content."""
        content = outgoing.content
        if not isinstance(content, Path):
            sent = content if content is None or isinstance(content, bytes) else _chunks(content)
            return self.client.send(_request(self.client, outgoing, sent))
        with content.open("rb") as file:
            chunks = iter(lambda: file.read(CHUNK_BYTES), b"")
            return self.client.send(_request(self.client, outgoing, chunks))

    async def open(self, outgoing: Outgoing) -> httpx.Response:
        """Return the response to a request, before its content."""
        return self.client.send(_request(self.client, outgoing, None), stream=True)

    async def chunks(self, response: httpx.Response) -> AsyncGenerator[bytes, None]:
        """Yield the content of an open response as it arrives."""
        for chunk in response.iter_bytes():
            yield chunk

    async def read(self, response: httpx.Response) -> None:
        """Read the content of an open response."""
        response.read()

    async def end(self, response: httpx.Response) -> None:
        """Close an open response."""
        response.close()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)

    async def block(self, work: Callable[[], T]) -> T:
        """Return the result of work that waits for files or processes."""
        return work()

    async def close(self) -> None:
        """Close all connections."""
        self.client.close()


def finished(work: Coroutine[object, None, T]) -> T:
    """Return the result of a coroutine that never suspends, which those on a blocking driver are."""
    results: list[T] = []

    async def run() -> None:
        results.append(await work)

    try:
        run().send(None)
    except StopIteration:
        return results[0]
    raise RuntimeError("a call on a blocking driver was suspended")


@dataclass(frozen=True)
class AsyncDriver:
    """Requests over httpx.AsyncClient, in an event loop of asyncio."""

    client: httpx.AsyncClient
    is_async: bool = True

    @property
    def url(self) -> str:
        """The URL of the service."""
        return str(self.client.base_url)

    async def send(self, outgoing: Outgoing) -> httpx.Response:
        """Return the response to a request, with its content."""
        content = outgoing.content
        chunks = content if content is None or isinstance(content, bytes) else self._parts(content)
        return await self.client.send(_request(self.client, outgoing, chunks))

    async def open(self, outgoing: Outgoing) -> httpx.Response:
        """Return the response to a request, before its content."""
        return await self.client.send(_request(self.client, outgoing, None), stream=True)

    async def chunks(self, response: httpx.Response) -> AsyncGenerator[bytes, None]:
        """Yield the content of an open response as it arrives."""
        async for chunk in response.aiter_bytes():
            yield chunk

    async def read(self, response: httpx.Response) -> None:
        """Read the content of an open response."""
        await response.aread()

    async def end(self, response: httpx.Response) -> None:
        """Close an open response."""
        await response.aclose()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        import anyio

        await anyio.sleep(seconds)

    async def block(self, work: Callable[[], T]) -> T:
        """Return the result of work that waits for files or processes, in a thread."""
        import anyio.to_thread

        return await anyio.to_thread.run_sync(work)

    async def close(self) -> None:
        """Close all connections."""
        await self.client.aclose()

    async def _parts(self, content: Path | Sequence[bytes | memoryview]) -> AsyncGenerator[bytes, None]:
        if not isinstance(content, Path):
            for chunk in _chunks(content):
                yield chunk
            return
        file = await self.block(lambda: content.open("rb"))
        try:
            while chunk := await self.block(partial(file.read, CHUNK_BYTES)):
                yield chunk
        finally:
            file.close()


def _chunks(parts: Sequence[bytes | memoryview]) -> Iterator[bytes]:
    for part in parts:
        for first in range(0, len(part), CHUNK_BYTES):
            yield bytes(part[first : first + CHUNK_BYTES])


def _request(
    client: httpx.Client | httpx.AsyncClient,
    outgoing: Outgoing,
    content: bytes | Iterable[bytes] | AsyncIterable[bytes] | None,
) -> httpx.Request:
    query = {name: value for name, value in (outgoing.query or {}).items() if value is not None}
    return client.build_request(
        outgoing.method,
        outgoing.path,
        params=query or None,  # None, so that a query in the path stays
        content=content,
        headers=dict(outgoing.headers),
        timeout=httpx.Timeout(outgoing.deadline, connect=CONNECT_SECONDS, pool=None),
    )
