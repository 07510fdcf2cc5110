"""The two clients: `Client`, whose calls return results, and `AsyncClient`, whose calls are coroutines."""

from dataclasses import dataclass
from types import TracebackType
from typing import Self

from relevance_bayes.client.calls import Asynchronous, Blocking
from relevance_bayes.client.embedded import EmbeddedService
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
