"""Responses to HEAD, for all routes."""

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class HeadRequests:
    """A middleware that responds to HEAD with the headers of the application's response to GET.

    The application is cancelled once its headers are sent: no file is read, and no event stream waits.
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

            # A copy of the scope: the server omits the body of a HEAD response by the method of its own scope.
            got = {**scope, "method": "GET"}
            try:
                await self._app(got, receive, send_headers)
            finally:
                scope["route"] = got.get("route")
