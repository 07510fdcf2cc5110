"""Authentication of requests that last: long polls and streams, which end once their credential is not valid."""

import asyncio
import time
from dataclasses import dataclass

import anyio
from starlette.types import Scope

from app.errors import UnauthenticatedError, UnavailableError
from app.http.authentication import HOW_TO_SEND, Authenticator, in_project, sufficient_scopes
from app.http.paths import path_of
from app.http.projects import HEADER_NAME, joined
from app.http.session_cookies import session_of
from relevance_bayes.records.errors import NotFoundError

CHECK_SECONDS = 2.0
"""The seconds between two checks of a request that waits. Keys and sessions are known for a second, so it ends within
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
            named = [value for name, value in scope["headers"] if name == HEADER_NAME]
            if named and found is not None:
                found = await in_project(self.authenticator, found, joined(named))
        except UnavailableError:
            return
        except NotFoundError:
            found = None
        if found is None or not found.has_any(sufficient_scopes(scope["method"], path_of(scope))):
            raise UnauthenticatedError(HOW_TO_SEND)


@dataclass(frozen=True)
class LastingRequest:
    """A request that waits, and is authenticated again every CHECK_SECONDS, and before each part of its response."""

    scope: Scope
    reauthentication: Reauthentication

    async def check(self) -> None:
        """Authenticate the request by what is known, or the database has now; raises UnauthenticatedError."""
        await self.reauthentication.check(self.scope)

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        """Wait for an event, for at most so many seconds; return whether it is set. Raises UnauthenticatedError."""
        end = time.monotonic() + seconds
        while not event.is_set() and (left := end - time.monotonic()) > 0:
            with anyio.move_on_after(min(left, CHECK_SECONDS)):
                await event.wait()
            await self.check()
        return event.is_set()
