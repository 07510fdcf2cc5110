"""HEAD for every path that answers GET: the headers of the same answer, without its body (RFC 9110, 9.3.2)."""

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class HeadRequests:
    """A middleware that answers HEAD by the application's answer to GET, up to its headers.

    The application is cancelled once its headers are known: no file is read and no stream of events waits.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        with anyio.CancelScope() as answered:

            async def send_headers(message: Message) -> None:
                if message["type"] == "http.response.start":
                    await send(message)
                    await send({"type": "http.response.body", "body": b""})
                    answered.cancel()

            # A scope of its own: the server leaves out the body of a HEAD by the method of the scope that it made.
            await self._app({**scope, "method": "GET"}, receive, send_headers)
