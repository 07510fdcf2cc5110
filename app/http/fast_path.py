"""The fast path of predictions: past the framework's routing, which would cost more than the prediction.

Without it a one-row prediction costs 3.2 times the CPU in process.
"""

import re
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from fastapi import Request
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from app.http.handlers import problem_of
from relevance_bayes.types.errors import RelevanceError

Responder: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
"""Sends the response to a request whose scope has the parameters of its path; raises problems."""


class FastPath:
    """POST requests to one path, answered by `respond`; the framework's own routes document them."""

    def __init__(self, path: "re.Pattern[str]", respond: Responder) -> None:
        self._path = path
        self._respond = respond

    def takes(self, scope: Scope) -> bool:
        """Return whether this is such a request; then the scope has a model's name and perhaps a version."""
        if scope["method"] != "POST" or scope.get("root_path"):
            return False
        found = self._path.fullmatch(scope["path"])
        if found is None:
            return False
        name, version = found.groups()
        scope["path_params"] = {"name": name} if version is None else {"name": name, "version": version}
        return True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._respond(scope, receive, send)
        except (RelevanceError, HTTPException) as error:
            response = await problem_of(Request(scope, receive), error)
            await response(scope, receive, send)
