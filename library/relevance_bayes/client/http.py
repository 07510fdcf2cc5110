"""Requests with their paths, contents and retries on either driver: typed responses, or ClientError."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TypedDict, TypeVar
from urllib.parse import quote
from uuid import uuid4

import httpx

from relevance_bayes import __version__
from relevance_bayes.client.drivers import (
    LIMITS,
    AsyncDriver,
    BlockingDriver,
    Content,
    Driver,
    Outgoing,
    Query,
    finished,
)
from relevance_bayes.client.errors import CONNECTION_LOST, KEY_IN_USE, NOT_REACHABLE, ClientError, Problem
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.records.formats import content_encoding_of
from relevance_bayes.records.json import FormOrClass, Page, ResponseForm, dumps, form_of
from relevance_bayes.records.models import Reference


def reference(name: str, version: int | str | None = None) -> Reference:
    """Return the version that a name, which may be `model@alias`, and a number or alias refer to.

    Raises ClientError for an invalid or contradictory one.
    """
    try:
        read = Reference.read(name)
        if version is None:
            return read
        if read.version is None:
            return Reference.of(read.model, str(version))
    except NotFoundError as error:
        raise ClientError(Problem(title="Not found", detail=error.detail, status=404)) from error
    raise ClientError(Problem(title="Two versions", detail=f"Expected one version, got {name} and {version}."))


def version_path(name: str, version: int | str | None) -> str:
    """Return the path of a version; of the newest that of its model."""
    model, selector = reference(name, version)
    return f"/v1/models/{part(model)}" + ("" if selector is None else f"/versions/{part(str(selector))}")


def part(text: str) -> str:
    """Return one segment of a path, with slashes escaped."""
    return quote(text, safe="")


MAX_RETRIES = 4
"""The default of `connect`."""

MAX_RETRY_AFTER = 60.0
"""The maximum of a service's `Retry-After` in seconds; a request with a longer one is not repeated."""

FIRST_PAUSE, LAST_PAUSE = 0.5, 8.0
"""The seconds before the first retry, which double with each, and their maximum."""

REFUSED = frozenset({429, 503})
"""Statuses of requests that were not executed, and may be later; with `Retry-After` they are repeated."""


@dataclass
class Retries:
    """The retries of one request; `is_repeatable` is that of the request."""

    max_retries: int
    is_repeatable: bool
    was_lost: bool = False
    count: int = 0

    def pause(self, error: ClientError) -> float | None:
        """Return the seconds to wait after an error, None where the request is not sent again."""
        if self.count >= self.max_retries:
            return None
        backoff = min(FIRST_PAUSE * 2.0**self.count, LAST_PAUSE)
        self.count += 1
        if error.problem.status in REFUSED and error.retry_after is not None:
            return max(backoff, error.retry_after) if error.retry_after <= MAX_RETRY_AFTER else None
        if not self.is_repeatable:
            return None
        # An unreachable service is retried only after it was reached before, a key in use only where it is our own.
        kind = error.problem.type
        if kind == CONNECTION_LOST or (self.was_lost and kind in {NOT_REACHABLE, KEY_IN_USE}):
            self.was_lost = True
            return backoff
        return None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of the header `Retry-After`, a number or a date (RFC 9110, 10.2.3); None without one."""
    given = headers.get("Retry-After", "").strip()
    if given.isascii() and given.isdecimal():
        return float(given)
    try:
        at = parsedate_to_datetime(given)
    except ValueError:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max((at - datetime.now(UTC)).total_seconds(), 0.0)


T = TypeVar("T")

_PROBLEM: ResponseForm[Problem] = ResponseForm(Problem)


def key_header(key: str | None) -> dict[str, str]:
    """Return the idempotency header."""
    text = str(uuid4() if key is None else key).replace("\\", "\\\\").replace('"', '\\"')
    return {"Idempotency-Key": f'"{text}"'}


def json_header(body: object) -> dict[str, str]:
    """Return the media type of a JSON body, nothing for none."""
    return {} if body is None else {"Content-Type": "application/json"}


def body_headers(content: Content) -> dict[str, str]:
    """Return the length where httpx does not determine it, and the encoding of a compressed file by its suffix."""
    match content:
        case Path():
            encoding = content_encoding_of(content)
            length = {"Content-Length": str(content.stat().st_size)}
            return length if encoding is None else {**length, "Content-Encoding": encoding}
        case bytes() | None:
            return {}
        case _:
            return {"Content-Length": str(sum(map(len, content)))}


def parameters(members: Mapping[str, object]) -> Query:
    """Return members of a request as parameters of a URL, without those that are None; objects, and lists of others
    than texts, are JSON."""
    return {name: _parameter(value) for name, value in members.items() if value is not None}


def _parameter(value: object) -> str | int | float | list[str]:
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, Sequence) and all(isinstance(one, str) for one in value):
        return [str(one) for one in value]
    return dumps(value)


def encoded(body: object) -> bytes | None:
    """Return a body as JSON; raises ClientError."""
    if body is None:
        return None
    try:
        return dumps(body).encode()
    except (TypeError, ValueError, RecursionError) as broken:
        raise ClientError(Problem(title="Not JSON", detail=f"The value has no JSON form: {broken}")) from broken


def decoded(response: httpx.Response, form: FormOrClass[T]) -> T:
    """Return the record in a response; raises ClientError for another one."""
    try:
        return form_of(form).read(response.content)
    except ValueError as broken:
        detail = f"Expected a response of Relevance from {response.request.url}, got another: {broken}."
        raise ClientError(Problem(title="Not understood", detail=detail, status=response.status_code)) from broken


def refusal(response: httpx.Response) -> ClientError:
    """Return the error of an unsuccessful response."""
    return ClientError(_problem(response), retry_after=retry_after(response.headers))


def _problem(response: httpx.Response) -> Problem:
    try:
        return _PROBLEM.read(response.content)
    except ValueError:
        detail = f"{response.request.url} responded with {response.status_code} {response.reason_phrase}".rstrip()
        return Problem(title=response.reason_phrase, detail=detail, status=response.status_code)


K = TypeVar("K")

DEFAULT_URL = "http://127.0.0.1:8000"

TIMEOUT = 30.0
"""The seconds in which the service must respond, in addition to the requested wait."""

UPLOAD_SECONDS = 600.0


@dataclass(frozen=True)
class Http:
    """Requests to one service; a request that is safe to repeat is sent at most `max_retries` times more."""

    driver: Driver
    max_retries: int = MAX_RETRIES

    @classmethod
    def to(
        cls,
        url: str,
        *,
        api_key: str | None,
        project: str | None = None,
        max_retries: int = MAX_RETRIES,
        transport: httpx.BaseTransport | None = None,
    ) -> "Http":
        """Return requests to `url` over a blocking driver; tests pass a `transport` instead of the network."""
        with _valid(url):
            client = httpx.Client(**_settings(url, api_key, project), transport=transport)
        return cls(BlockingDriver(client), max_retries)

    @classmethod
    def to_async(
        cls,
        url: str,
        *,
        api_key: str | None,
        project: str | None = None,
        max_retries: int = MAX_RETRIES,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> "Http":
        """Return requests to `url` over an asynchronous driver, otherwise as `to` does."""
        with _valid(url):
            client = httpx.AsyncClient(**_settings(url, api_key, project), transport=transport)
        return cls(AsyncDriver(client), max_retries)

    def close(self) -> None:
        """Close the connections of a blocking driver."""
        finished(self.driver.close())

    async def get(self, form: FormOrClass[T], path: str, query: Query | None = None, *, wait: float = 0.0) -> T:
        """Request `path`; the service may wait `wait` seconds for a change (long polling). Raises ClientError."""
        return decoded(await self._send("GET", path, query=query, deadline=TIMEOUT + wait, is_repeatable=True), form)

    async def pages(self, form: type[Page[T]], path: str, query: Query | None = None) -> AsyncGenerator[T, None]:
        """Yield the items of a list, requesting its pages lazily. Raises ClientError."""
        after: str | None = None
        while True:
            page = await self.get(form, path, {**(query or {}), "after": after})
            for item in page.items:
                yield item
            if not page.has_more:
                return
            after = page.after

    async def fetch(self, path: str, *, media_type: str, query: Query | None = None) -> bytes:
        """Return the bytes at `path`, of this media type. Raises ClientError."""
        return (await self._send("GET", path, query=query, headers={"Accept": media_type}, is_repeatable=True)).content

    async def post_bytes(
        self,
        path: str,
        content: Content,
        *,
        media_type: str,
        response_type: str,
        query: Query | None = None,
        deadline: float = TIMEOUT,
    ) -> bytes:
        """Send bytes of one media type and return the response's bytes of another. Raises ClientError."""
        headers = {"Content-Type": media_type, "Accept": f"{response_type}, application/problem+json;q=0.1"}
        headers |= body_headers(content)
        sent = await self._send("POST", path, query=query, content=content, headers=headers, deadline=deadline)
        return sent.content

    @asynccontextmanager
    async def stream(
        self, path: str, *, headers: Mapping[str, str], silence: float, query: Query | None = None
    ) -> AsyncIterator[AsyncGenerator[bytes, None] | None]:
        """Yield the bytes at `path` as they are received, None for a response without content; raises ClientError.

        Also raises ClientError after `silence` seconds without data.
        """
        outgoing = Outgoing("GET", path, query, headers, None, silence, is_repeatable=False)
        with self._reached():
            response = await self.driver.open(outgoing)
            try:
                if not response.is_success:
                    await self.driver.read(response)
                    raise refusal(response)
                yield None if response.status_code == httpx.codes.NO_CONTENT else self.driver.chunks(response)
            finally:
                await self.driver.end(response)

    async def post(self, form: FormOrClass[T], path: str, body: object = None) -> T:
        """Send `body` as JSON. Raises ClientError."""
        return decoded(await self._send("POST", path, content=encoded(body), headers=json_header(body)), form)

    async def patch(
        self, form: FormOrClass[T], path: str, body: object, *, headers: Mapping[str, str] | None = None
    ) -> T:
        """Send `body` as JSON to change the resource at `path`. Raises ClientError."""
        sent = json_header(body) | dict(headers or {})
        return decoded(await self._send("PATCH", path, content=encoded(body), headers=sent), form)

    async def put(self, form: FormOrClass[T], path: str, body: object, *, headers: Mapping[str, str]) -> T:
        """Send `body` as JSON to put the resource at `path`. Raises ClientError."""
        sent = json_header(body) | dict(headers)
        return decoded(await self._send("PUT", path, content=encoded(body), headers=sent), form)

    async def tagged(self, form: FormOrClass[T], path: str) -> tuple[T, str]:
        """Return the resource at `path`, and its entity tag. Raises ClientError."""
        response = await self._send("GET", path, is_repeatable=True)
        return decoded(response, form), response.headers.get("ETag", "")

    async def create(self, form: FormOrClass[T], path: str, body: object = None, *, key: str | None = None) -> T:
        """Send `body` as JSON to create a resource, with an idempotency `key` (a new one when None).

        The key makes it safe to repeat, which this does after a lost connection. Raises ClientError.
        """
        headers = key_header(key) | json_header(body)
        sent = await self._send("POST", path, content=encoded(body), headers=headers, is_repeatable=True)
        return decoded(sent, form)

    async def upload(
        self,
        form: FormOrClass[T],
        path: str,
        content: Content,
        *,
        media_type: str,
        query: Query | None = None,
        key: str | None = None,
    ) -> T:
        """Stream a file, or bytes, with a `key` as in `create`.

        Raises ClientError, OSError where the file can't be read.
        """
        return decoded(await self.send_content(path, content, media_type=media_type, query=query, key=key), form)

    async def send_content(
        self, path: str, content: Content, *, media_type: str, query: Query | None = None, key: str | None = None
    ) -> httpx.Response:
        """Stream content as `upload` does, and return the response. Raises ClientError, OSError."""
        headers = key_header(key) | {"Content-Type": media_type} | body_headers(content)
        return await self._send(
            "POST", path, query=query, content=content, headers=headers, deadline=UPLOAD_SECONDS, is_repeatable=True
        )

    async def delete(self, path: str, query: Query | None = None, *, headers: Mapping[str, str] | None = None) -> None:
        """Delete the resource at `path`. Raises ClientError."""
        await self._send("DELETE", path, query=query, headers=headers)

    async def deleted(self, form: FormOrClass[T], path: str, query: Query) -> T:
        """Delete the resource at `path`, and return what was deleted with it. Raises ClientError."""
        return decoded(await self._send("DELETE", path, query=query), form)

    async def _send(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        content: Content = None,
        headers: Mapping[str, str] | None = None,
        deadline: float = TIMEOUT,
        is_repeatable: bool = False,
    ) -> httpx.Response:
        """Return a successful response, after the retries of `Retries`. Raises ClientError."""
        outgoing = Outgoing(method, path, query, headers or {}, content, deadline, is_repeatable)
        retries = Retries(self.max_retries, is_repeatable)
        while True:
            try:
                with self._reached():
                    response = await self.driver.send(outgoing)
                if response.is_success:
                    return response
                raise refusal(response)
            except ClientError as error:
                pause = retries.pause(error)
                if pause is None:
                    raise
            await self.driver.sleep(pause)

    @contextmanager
    def _reached(self) -> Iterator[None]:
        url = self.driver.url
        try:
            yield
        except httpx.UnsupportedProtocol as broken:
            detail = f"{url} is not a URL of a service: expected http:// or https://"
            raise ClientError(Problem(title="Not a URL", detail=detail)) from broken
        except (httpx.NetworkError, httpx.ProtocolError) as broken:
            never = isinstance(broken, httpx.ConnectError)
            detail = f"No response from {url}: {str(broken) or type(broken).__name__}"
            kind, title = (NOT_REACHABLE, "Not reachable") if never else (CONNECTION_LOST, "Connection lost")
            raise ClientError(Problem(type=kind, title=title, detail=detail)) from broken
        except httpx.TransportError as broken:
            detail = f"No response from {url}: {str(broken) or type(broken).__name__}"
            raise ClientError(Problem(type=NOT_REACHABLE, title="Not reachable", detail=detail)) from broken


class _Settings(TypedDict):
    base_url: str
    headers: dict[str, str]
    limits: httpx.Limits


def _settings(url: str, api_key: str | None, project: str | None) -> _Settings:
    headers = {"Accept": "application/json", "User-Agent": f"relevance-bayes/{__version__}"}
    headers |= {"Authorization": f"Bearer {api_key}"} if api_key else {}
    if project:
        headers["Relevance-Project"] = part(project)
    return {"base_url": url.rstrip("/"), "headers": headers, "limits": LIMITS}


@contextmanager
def _valid(url: str) -> Iterator[None]:
    try:
        yield
    except httpx.InvalidURL as broken:
        raise ClientError(Problem(title="Not a URL", detail=f"{url} is not a URL: {broken}")) from broken


def of_kind(kind: type[K], response: object) -> K:
    """Return the response as the expected class; raises ClientError for another one."""
    if not isinstance(response, kind):
        detail = f"Expected a {kind.__name__}, got a {type(response).__name__}; pass `of`."
        raise ClientError(Problem(title="Another task", detail=detail))
    return response


def if_match_header(tag: str | None) -> dict[str, str]:
    """Return the header that makes a change conditional on an entity tag."""
    return {} if tag is None else {"If-Match": tag}
