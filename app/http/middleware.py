"""The middleware of all requests, in plain ASGI: request id, access log, API key, maximum body size; HEAD by GET."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import NamedTuple, Protocol
from urllib.parse import unquote_plus

import anyio
import structlog
from anyio import to_thread
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.errors import CrossSiteError, MisdirectedError, RateLimitError, TooLargeError, UnavailableError
from app.http.authentication import (
    HOW_TO_SEND,
    LOGOUT,
    PROJECT_HEADER_NAME,
    PROJECTS,
    READING,
    REFUSED,
    Authenticator,
    check_own_page,
    in_project,
    is_refusal,
    joined,
    session_of,
    sufficient_scopes,
)
from app.http.origins import PRINCIPAL, Hosts, NoRefusals, Refusals, is_page, origin_of
from app.http.paths import is_below, is_protected, path_of
from app.http.problems import FORBIDDEN, KINDS, REQUEST_ID, UNAUTHENTICATED, error_response, problem_response
from app.http.rate_limits import CURRENT as RATES
from app.http.rate_limits import RateLimits, Unlimited, is_limited
from app.http.response_headers import COMMON, CURRENT_STALENESS, HAS_POLICY, SECURITY_HEADERS, Staleness, encoded
from app.http.telemetry import RequestMetrics, end_request, start_request
from app.identity import Principal, new_request_id
from app.origin import CURRENT as CURRENT_ORIGIN
from app.tracing.spans import CURRENT_REQUEST, NO_SPAN, TRACERESPONSE, Tracer
from relevance_bayes.records.accounts import KeyScope
from relevance_bayes.records.errors import InvalidRequestError, NotFoundError

REQUEST_ID_HEADER = "X-Request-ID"
_REQUEST_ID = b"x-request-id"
_TRACERESPONSE = TRACERESPONSE.encode()
_OF_BROWSERS = frozenset({b"origin", b"sec-fetch-site"})
_READ = frozenset({b"host", b"authorization", b"content-length", _REQUEST_ID, PROJECT_HEADER_NAME, *_OF_BROWSERS})
"""The headers that the middleware reads; one look-up for each other header takes less than a comparison with each."""

MAX_PATHS, MAX_PATH_LENGTH = 1_000, 256
"""The maximum number and length of the paths whose `PathRules` are kept."""

_SECURITY = encoded(SECURITY_HEADERS)
_SECURITY_OF_PAGES = encoded(COMMON)
"""Pages have a Content-Security-Policy of their own."""

_STALE = (b"relevance-stale", b"1")
_OF_SESSION = (b"vary", b"cookie")
"""A browser's cache keeps no response of one session for the next."""

_OF_PROJECT = (b"vary", PROJECT_HEADER_NAME)
"""A cache keeps no response of one project for another; responses to POST are not kept."""

_HAS_SESSION = "has_session"
STOPPED = "The process stopped before the response was ready; the request may have been executed or not."
_SANE = re.compile(rb"[A-Za-z0-9._~:/+=@-]{1,128}")

log = structlog.stdlib.get_logger("app.requests")


class Shortcut(Protocol):
    """An application that handles some requests without the framework."""

    def takes(self, scope: Scope) -> bool: ...

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...


@dataclass(frozen=True)
class Rules:
    """The settings of the middleware: who authenticates requests, the maximum size of bodies, except for the methods
    and paths `elsewhere`, which limit them themselves, whether requests are logged, what counts them, the limited rates
    of owners, what records refusals, what traces requests (None: nothing), and the hosts and pages whose
    requests are executed while they need no key.
    """

    authenticator: Authenticator
    max_bytes: int
    elsewhere: frozenset[tuple[str, str]] = frozenset()
    log: bool = True
    metrics: RequestMetrics = field(default_factory=RequestMetrics)
    rate_limits: RateLimits = field(default_factory=Unlimited)
    refusals: Refusals = field(default_factory=NoRefusals)
    tracer: Tracer | None = None
    hosts: Hosts = field(default_factory=Hosts)


class PathRules(NamedTuple):
    """The rules of a method and a path: whether the host is checked while no key is needed, a key is needed otherwise,
    the path names its project itself, requests count for the owner's rate, responses are pages; and the sufficient
    scopes, beside `admin`."""

    checks_host: bool
    is_protected: bool
    names_project: bool
    is_limited: bool
    is_page: bool
    scopes: tuple[KeyScope, ...]


def _path_rules(method: str, path: str) -> PathRules:
    return PathRules(
        checks_host=Hosts.covers(path),
        is_protected=is_protected(path),
        names_project=is_below(path, PROJECTS),
        is_limited=is_limited(path),
        is_page=is_page(path),
        scopes=sufficient_scopes(method, path),
    )


_kept_path_rules = lru_cache(MAX_PATHS)(_path_rules)


class _SentHeaders:
    """The headers that the middleware reads, in the order of a request: the request's id and the project that the
    client names, if any, all Authorization headers, Content-Length, and all of `Host`; and whether one is of a browser.
    """

    __slots__ = ("announced", "hosts", "is_of_browser", "keys", "project", "request_id")

    def __init__(self, headers: Collection[tuple[bytes, bytes]]) -> None:
        self.request_id = self.announced = b""
        self.project: bytes | None = None
        self.keys: list[bytes] = []
        self.hosts: list[bytes] = []
        self.is_of_browser = False
        for name, value in headers:
            if name in _READ:
                if name == b"host":
                    self.hosts.append(value)
                elif name == b"content-length":
                    self.announced = value
                elif name == b"authorization":
                    self.keys.append(value)
                elif name == _REQUEST_ID:
                    self.request_id = self.request_id or value
                elif name in _OF_BROWSERS:
                    self.is_of_browser = True
                else:
                    self.project = value if self.project is None else joined((self.project, value))


class Entrance:
    """Gives each request an id, which the response repeats, authenticates it where the path has an owner, refuses
    bodies above the maximum size before they are read, and logs and traces the response.

    Requests that one of the `fast_paths` takes go there, all others to `app`.
    """

    def __init__(self, app: ASGIApp, rules: Rules, fast_paths: Sequence[Shortcut]) -> None:
        self._app = app
        self._fast_paths = fast_paths
        self._max_bytes = rules.max_bytes
        self._elsewhere = rules.elsewhere
        self._authenticator = rules.authenticator
        self._log = rules.log
        self._metrics = rules.metrics
        self._rate_limits = rules.rate_limits
        self._refusals = rules.refusals
        self._tracer = rules.tracer
        self._hosts = rules.hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter_ns()
        method: str = scope["method"]
        path = path_of(scope) if scope.get("root_path") else scope["path"]
        rules = (_kept_path_rules if len(path) <= MAX_PATH_LENGTH else _path_rules)(method, path)
        sent = _SentHeaders(scope["headers"])
        request_id = new_request_id() if not sent.request_id else request_id_of(sent.request_id)
        state = scope.setdefault("state", {})
        state[REQUEST_ID] = request_id
        CURRENT_REQUEST.set(request_id)
        span = NO_SPAN if self._tracer is None else start_request(self._tracer, scope, path, request_id)
        staleness = Staleness()
        CURRENT_STALENESS.set(staleness)
        RATES.set(None)
        CURRENT_ORIGIN.set(partial(origin_of, scope))
        status = 500  # the status that the client gets for an exception raised here
        has_begun = False

        async def send_with_id(message: Message) -> None:
            nonlocal status, has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                status = message["status"]
                has_policy = HAS_POLICY in state or (rules.is_page and status in {200, 304})
                security = _SECURITY_OF_PAGES if has_policy else _SECURITY
                headers = [*message.get("headers", ()), (_REQUEST_ID, request_id.encode()), *security]
                if staleness.age is not None:
                    headers += [(b"age", b"%d" % staleness.age), _STALE]
                if (rates := RATES.get()) is not None:
                    headers += rates.headers()
                if method != "POST" and rules.is_protected:
                    headers.append(_OF_PROJECT)
                if span is not NO_SPAN and (traceparent := span.traceparent) is not None:
                    headers.append((_TRACERESPONSE, traceparent.encode()))
                if _HAS_SESSION in state:
                    headers.append(_OF_SESSION)
                message["headers"] = headers
            await send(message)

        try:
            refused = await self._refusal(scope, path, rules, sent)
            if refused is not None:
                await refused(scope, receive, send_with_id)
            elif (method, path) in self._elsewhere:
                await self._app(scope, receive, send_with_id)
            else:
                await self._route(scope)(scope, _counted(receive, self._max_bytes), send_with_id)
        except (CrossSiteError, MisdirectedError, RateLimitError, UnavailableError) as error:
            if has_begun:
                raise
            await error_response(scope, error)(scope, receive, send_with_id)
        except asyncio.CancelledError:
            if has_begun:
                raise
            # Only a server that stops cancels requests: those not completed within the grace period.
            await error_response(scope, UnavailableError(STOPPED))(scope, receive, send_with_id)
        finally:
            self._metrics.count(scope, status, began)
            if span is not NO_SPAN:
                end_request(span, scope, status)
            if self._log:
                took = round((time.perf_counter_ns() - began) / 1e6, 2)
                whole_path: str = scope["path"]
                log.info("request", method=method, path=whole_path, status=status, ms=took, request_id=request_id)
        if status in REFUSED and PRINCIPAL in state and is_refusal(method, path, status):
            owner: str = state[PRINCIPAL].owner
            await to_thread.run_sync(self._refusals.record, owner, method, path, status)

    def _route(self, scope: Scope) -> ASGIApp:
        for fast_path in self._fast_paths:
            if fast_path.takes(scope):
                return fast_path
        return self._app

    async def _refusal(self, scope: Scope, path: str, rules: PathRules, sent: _SentHeaders) -> Response | None:
        """Return the response that refuses the request, or None after the principal is set in the scope.

        Raises UnavailableError where the key can't be checked, MisdirectedError, CrossSiteError, and RateLimitError.
        """
        if rules.checks_host and await self._is_open(rules):
            self._hosts.check_names(sent.hosts, scope.get("server"))
            if sent.is_of_browser:
                self._hosts.check_page(scope, path)
        if rules.is_protected:
            principal = self._authenticator.known(sent.keys) or await self._principal(scope, sent.keys)
            if principal is None:
                headers = {"WWW-Authenticate": "Bearer"}
                return problem_response(scope, UNAUTHENTICATED, detail=HOW_TO_SEND, headers=headers)
            project = sent.project
            if rules.names_project:
                principal, project = principal.credential, None
            scope["state"][PRINCIPAL] = principal
            if project is not None:
                try:
                    principal = await in_project(self._authenticator, principal, project)
                except NotFoundError as error:
                    self._take_request(principal, rules)
                    return error_response(scope, error)
                scope["state"][PRINCIPAL] = principal
            scopes = rules.scopes
            if not principal.has_any(scopes):
                headers = {"WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{(*scopes, "admin")[0]}"'}
                return problem_response(scope, FORBIDDEN, detail=principal.lacks(scopes), headers=headers)
            self._take_request(principal, rules)
        if "\0" in path:  # no stored text contains NUL
            return problem_response(scope, KINDS[NotFoundError], detail=f"There is no resource at {scope['path']}.")
        if b"%00" in scope["query_string"]:
            name = _parameter_with_nul(scope["query_string"])
            detail = f"The query parameter {name!r} contains NUL."
            errors = [{"parameter": name, "detail": "It contains NUL."}]
            return problem_response(scope, KINDS[InvalidRequestError], detail=detail, errors=errors)
        too_large = sent.announced.isdigit() and int(sent.announced) > self._max_bytes
        if too_large and (scope["method"], path) not in self._elsewhere:
            return problem_response(scope, KINDS[TooLargeError], detail=_too_large(self._max_bytes))
        return None

    async def _is_open(self, rules: PathRules) -> bool:
        """Return whether requests to such paths need no key; raises UnavailableError where that is not known, and is of
        consequence."""
        try:
            return await self._authenticator.is_open()
        except UnavailableError:
            if rules.is_protected:
                raise
            return False

    def _take_request(self, principal: Principal, rules: PathRules) -> None:
        """Count a request for the owner in whose project it acts, or would; raises RateLimitError."""
        rates = self._rate_limits.of(principal.owner)
        if rates is not None and rules.is_limited:
            RATES.set(rates)
            rates.take_request()

    async def _principal(self, scope: Scope, keys: Collection[bytes]) -> Principal | None:
        """Return the principal by the request's session, where it has no key, or by what the database has now.

        A session in a project whose membership has ended can still be ended itself.
        Raises CrossSiteError where a page of another origin sends a request with a session that may change something.
        """
        session = None if keys else session_of(scope)
        known = None if session is None else self._authenticator.known(keys, session)
        principal = known or await self._authenticator.authenticate(keys, session)
        if principal is None and session is not None and (scope["method"], path_of(scope)) == LOGOUT:
            principal = self._authenticator.known_session(session)
        if principal is not None and principal.is_session:
            scope["state"][_HAS_SESSION] = True
            if scope["method"] not in READING:
                scope["state"][PRINCIPAL] = principal
                check_own_page(scope, needs_origin=True)
        return principal


def request_id_of(sent: bytes) -> str:
    """Return the id of a request: the one that the client has sent, where it is well formed, or a new one."""
    return sent.decode() if _SANE.fullmatch(sent) else new_request_id()


def _parameter_with_nul(query: bytes) -> str:
    pair = next(pair for pair in query.split(b"&") if b"%00" in pair)
    return unquote_plus(pair.partition(b"=")[0].decode("ascii", "replace"))


def _too_large(maximum: int) -> str:
    return f"Expected a body of at most {maximum} bytes, got more."


def _counted(receive: Receive, maximum: int) -> Callable[[], Awaitable[Message]]:
    """Return a `receive` that raises TooLargeError after more than `maximum` bytes, whatever Content-Length was."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > maximum:
            raise TooLargeError(_too_large(maximum))
        return message

    return counted


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
