"""The two clients, and their connection: to a service at a URL, or to one that is started on a database file."""

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from types import TracebackType
from typing import Self

from relevance_bayes.client.calls import Asynchronous, Blocking
from relevance_bayes.client.embedded import MEMORY, EmbeddedService, start
from relevance_bayes.client.http import DEFAULT_URL, MAX_RETRIES, Http
from relevance_bayes.client.service_calls import ServiceCalls


@dataclass(frozen=True)
class Client(ServiceCalls[Blocking]):
    """A client of one service; every method raises ClientError when the service refuses or does not respond.

    `embedded` is the service that was started for it.
    """

    embedded: EmbeddedService | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections, and stop the embedded service."""
        self.http.close()
        if self.embedded is not None:
            self.embedded.stop()


@dataclass(frozen=True)
class AsyncClient(ServiceCalls[Asynchronous]):
    """A client as `Client` is, for asyncio: its calls are coroutines, its lists asynchronous generators."""

    embedded: EmbeddedService | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections, and stop the embedded service, also in a task that is cancelled."""
        import anyio

        with anyio.CancelScope(shield=True):
            await self.http.driver.close()
            if self.embedded is not None:
                await self.http.driver.block(self.embedded.stop)


SUFFIXES = (".db", ".sqlite", ".sqlite3")
"""The suffixes by which a text is the name of a file, and not a URL."""


def connect(
    service: str | Path = DEFAULT_URL,
    *,
    api_key: str | None = None,
    project: str | None = None,
    max_retries: int = MAX_RETRIES,
) -> Client:
    """Return a client of the service at a URL; its requests act in `project`, by default in that of the API key.

    A path, or a text that ends with .db, .sqlite or .sqlite3, is a database file: `relevance serve` is started on it,
    and stopped with the client. Its output is in the file `.log` beside it. ":memory:" is a temporary one.

    A request that is safe to repeat is sent at most `max_retries` times more. Raises ClientError for an invalid URL,
    and where a service does not start.
    """
    if not _is_file(service):
        return Client(Http.to(str(service), api_key=api_key, project=project, max_retries=max_retries))
    started = start(_database(service))
    return Client(Http.to(started.url, api_key=api_key, project=project, max_retries=max_retries), started)


def connect_async(
    service: str | Path = DEFAULT_URL,
    *,
    api_key: str | None = None,
    project: str | None = None,
    max_retries: int = MAX_RETRIES,
) -> "Connecting":
    """Return an asynchronous client as `connect` does: by `await`, or by `async with`, which closes it."""
    return Connecting(service, api_key, project, max_retries)


@dataclass
class Connecting:
    """An asynchronous client that is not connected yet."""

    service: str | Path
    api_key: str | None
    project: str | None
    max_retries: int
    client: AsyncClient | None = None

    def __await__(self) -> Generator[object, None, AsyncClient]:
        return self._connected().__await__()

    async def __aenter__(self) -> AsyncClient:
        self.client = await self._connected()
        return self.client

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.client is not None:
            await self.client.aclose()

    async def _connected(self) -> AsyncClient:
        started = await _started(_database(self.service)) if _is_file(self.service) else None
        url = str(self.service) if started is None else started.url
        http = Http.to_async(url, api_key=self.api_key, project=self.project, max_retries=self.max_retries)
        return AsyncClient(http, started)


async def _started(database: Path | None) -> EmbeddedService:
    """Start a service in a thread, which a cancellation ends; what it started is stopped then."""
    import anyio.to_thread

    is_cancelled = Event()
    try:
        return await anyio.to_thread.run_sync(start, database, is_cancelled, abandon_on_cancel=True)
    except BaseException:
        is_cancelled.set()
        raise


def _is_file(service: str | Path) -> bool:
    if isinstance(service, Path):
        return True
    return service == MEMORY or ("://" not in service and service.lower().endswith(SUFFIXES))


def _database(service: str | Path) -> Path | None:
    return None if service == MEMORY else Path(service)
