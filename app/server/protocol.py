"""The HTTP/1.1 protocol of one connection."""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from app.server.transport import CoalescingTransport


class Http1Protocol(HttpToolsProtocol):
    """uvicorn's protocol over a `CoalescingTransport`."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """Start a connection."""
        super().connection_made(CoalescingTransport(transport, self.loop))
