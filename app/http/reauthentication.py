"""Authentication of requests that last: long polls and streams, which end once their credential is not valid."""

import asyncio
import time
from dataclasses import dataclass, field

import anyio
from starlette.types import Scope

from app.errors import UnauthenticatedError, UnavailableError
from app.http.authentication import HOW_TO_SEND, Authenticator, sufficient_scopes
from app.http.paths import path_of
from app.http.session_cookies import session_of

CHECK_SECONDS = 2.0
"""The seconds between two checks of one request. Keys and sessions are known for a second, so a request ends within
about three after its credential was revoked."""


@dataclass(frozen=True)
class Reauthentication:
    """Authenticates requests again by what their first authentication had."""

    authenticator: Authenticator

    async def check(self, scope: Scope) -> None:
        """Raise UnauthenticatedError where a request would be refused now; while the database is away it would not."""
        keys = [value for name, value in scope["headers"] if name == b"authorization"]
        session = None if keys else session_of(scope)
        try:
            found = self.authenticator.known(keys, session) or await self.authenticator.authenticate(keys, session)
        except UnavailableError:
            return
        if found is None or not found.has_any(sufficient_scopes(scope["method"], path_of(scope))):
            raise UnauthenticatedError(HOW_TO_SEND)


@dataclass
class LastingRequest:
    """A request that waits, and is authenticated again every CHECK_SECONDS."""

    scope: Scope
    reauthentication: Reauthentication
    checked_at: float = field(default_factory=time.monotonic)

    async def check(self) -> None:
        """Authenticate the request, unless that was done a moment ago; raises UnauthenticatedError."""
        if time.monotonic() - self.checked_at >= CHECK_SECONDS:
            self.checked_at = time.monotonic()
            await self.reauthentication.check(self.scope)

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        """Wait for an event, for at most so many seconds; return whether it is set. Raises UnauthenticatedError."""
        end = time.monotonic() + seconds
        while not event.is_set() and (left := end - time.monotonic()) > 0:
            with anyio.move_on_after(min(left, self.checked_at + CHECK_SECONDS - time.monotonic())):
                await event.wait()
            await self.check()
        return event.is_set()
