"""What every request goes through, in plain ASGI: its id and log line, the API key, the limit of its body."""

import hmac
import re
import time
from collections.abc import Awaitable, Callable, Collection

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.errors import KINDS, REQUEST_ID, UNAUTHENTICATED, problem_response
from app.domain.errors import TooLargeError
from app.domain.identity import BUILT_IN_OWNER, uuid7

REQUEST_ID_HEADER = "X-Request-ID"
_SANE = re.compile(r"[A-Za-z0-9._~:/+=@-]{1,128}")
_PROTECTED = "/v1"

log = structlog.stdlib.get_logger("app.requests")


class RequestLog:
    """Gives each request an id, echoed in the answer, and writes one line when it is answered."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = Headers(scope=scope).get(REQUEST_ID_HEADER)
        request_id = sent if sent is not None and _SANE.fullmatch(sent) else str(uuid7())
        scope.setdefault("state", {})[REQUEST_ID] = request_id
        status = 500  # what the client gets when an exception passes through here
        began = time.perf_counter()

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[REQUEST_ID_HEADER] = request_id
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        finally:
            log.info(
                "request",
                method=scope["method"],
                path=scope["path"],
                status=status,
                ms=round((time.perf_counter() - began) * 1000, 2),
                request_id=request_id,
            )


class ApiKey:
    """Lets only those who know the key into /v1; without a key everybody is the built-in owner."""

    def __init__(self, app: ASGIApp, key: str | None) -> None:
        self._app = app
        self._expected = None if key is None else f"Bearer {key}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not is_below(scope["path"], _PROTECTED):
            await self._app(scope, receive, send)
            return
        if self._expected is not None and not self._is_known(scope):
            response = problem_response(
                scope,
                UNAUTHENTICATED,
                detail="Send the API key as `Authorization: Bearer <key>`.",
                headers={"WWW-Authenticate": "Bearer"},
            )
            await response(scope, receive, send)
            return
        scope.setdefault("state", {})["owner"] = BUILT_IN_OWNER
        await self._app(scope, receive, send)

    def _is_known(self, scope: Scope) -> bool:
        sent = [value for name, value in scope["headers"] if name == b"authorization"]
        return len(sent) == 1 and self._expected is not None and hmac.compare_digest(_normal(sent[0]), self._expected)


class BodyLimit:
    """Refuses a body above the limit before it is read whole; `elsewhere` are the paths that see to it themselves."""

    def __init__(self, app: ASGIApp, most_bytes: int, *, elsewhere: Collection[tuple[str, str]]) -> None:
        self._app = app
        self._most = most_bytes
        self._elsewhere = frozenset(elsewhere)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or (scope["method"], scope["path"]) in self._elsewhere:
            await self._app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "")
        detail = f"The body is larger than {self._most} bytes."
        if announced.isdecimal() and int(announced) > self._most:
            await problem_response(scope, KINDS[TooLargeError], detail=detail)(scope, receive, send)
            return
        await self._app(scope, _counted(receive, self._most, detail), send)


def _counted(receive: Receive, most: int, detail: str) -> Callable[[], Awaitable[Message]]:
    """`receive` that raises TooLargeError once more than `most` bytes came, whatever was announced."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > most:
            raise TooLargeError(detail)
        return message

    return counted


def is_below(path: str, root: str) -> bool:
    """Whether a path is `root` or under it."""
    return path == root or path.startswith(f"{root}/")


def _normal(authorization: bytes) -> bytes:
    """The header with its scheme as `Bearer`, which may come in any case."""
    scheme, _, credentials = authorization.partition(b" ")
    return b"Bearer " + credentials.strip() if scheme.lower() == b"bearer" else authorization
