"""Requests as bytes, typed responses or ClientError, on either driver."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TypedDict, TypeVar

import httpx

from relevance_bayes import __version__
from relevance_bayes.client.bodies import (
    body_headers,
    decoded,
    encoded,
    json_header,
    key_header,
    refusal,
)
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
from relevance_bayes.client.errors import CONNECTION_LOST, NOT_REACHABLE, ClientError, Problem
from relevance_bayes.client.json import FormOrClass
from relevance_bayes.client.paths import part
from relevance_bayes.client.retries import MAX_RETRIES, Retries
from relevance_bayes.records.pages import Page

T = TypeVar("T")
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
