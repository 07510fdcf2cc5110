"""Authentication of requests whose responses take long, while these are sent."""

from starlette.requests import Request

from app.http.authentication import Authenticator, in_project, sufficient_scopes
from app.http.paths import path_of
from app.http.projects import HEADER_NAME, joined
from app.http.session_cookies import session_of
from relevance_bayes.types.errors import NotFoundError


class Reauthenticator:
    """Authenticates a request again: its key, token, session or membership may have ended since it was accepted."""

    def __init__(self, authenticator: Authenticator) -> None:
        self._authenticator = authenticator

    async def is_permitted(self, request: Request) -> bool:
        """Return whether a request on a protected path would be accepted now; raises UnavailableError."""
        keys = [value for name, value in request.scope["headers"] if name == b"authorization"]
        principal = self._authenticator.known(keys)
        if principal is None:
            session = None if keys else session_of(request.scope)
            known = None if session is None else self._authenticator.known(keys, session)
            principal = known or await self._authenticator.authenticate(keys, session)
        if principal is None:
            return False
        named = [value for name, value in request.scope["headers"] if name == HEADER_NAME]
        try:
            if named:
                principal = await in_project(self._authenticator, principal, joined(named))
        except NotFoundError:
            return False
        return principal.has_any(sufficient_scopes(request.method, path_of(request.scope)))
