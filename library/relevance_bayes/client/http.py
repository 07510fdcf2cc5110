"""The HTTP client, and the only module that imports httpx: requests as bytes, typed responses or ClientError."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, TypeVar
from uuid import uuid4

import httpx

from relevance_bayes.client.errors import CONNECTION_LOST, KEY_IN_USE, NOT_REACHABLE, ClientError, Problem
from relevance_bayes.client.json import dumps, read
from relevance_bayes.client.paths import part
from relevance_bayes.types.errors import InvalidRequestError
from relevance_bayes.types.pages import Page
from relevance_bayes.types.records import Converter

T = TypeVar("T")
K = TypeVar("K")

DEFAULT_URL = "http://127.0.0.1:8000"

TIMEOUT = 30.0
"""The seconds in which the service must respond, in addition to the requested wait."""

PAUSES = (0.5, 1.0, 2.0, 4.0)
"""The seconds before each retry of a request that creates something."""

CONNECT_SECONDS = 5.0

Form: TypeAlias = type[T] | Converter[T]
"""The type of a response: a class, or the converter of a union of several."""

_PROBLEM: Converter[Problem] = Converter(Problem)

Query = Mapping[str, str | int | float | list[str] | None]
"""Parameters of a URL; None is left out."""


@dataclass(frozen=True)
class Http:
    """A connection to one service."""

    client: httpx.Client

    @classmethod
    def to(
        cls,
        url: str,
        *,
        api_key: str | None,
        project: str | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> "Http":
        """Return a connection to `url`; tests pass a `transport` instead of the network."""
        headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {api_key}"} if api_key else {})
        if project:
            headers["Relevance-Project"] = part(project)
        try:
            client = httpx.Client(base_url=url.rstrip("/"), headers=headers, timeout=TIMEOUT, transport=transport)
        except httpx.InvalidURL as broken:
            raise ClientError(Problem(title="Not a URL", detail=f"{url} is not a URL: {broken}")) from broken
        return cls(client)

    def close(self) -> None:
        """Close the connections."""
        self.client.close()

    def get(self, form: Form[T], path: str, query: Query | None = None, *, wait: float = 0.0) -> T:
        """Request `path`; the service may wait `wait` seconds for a change (long polling). Raises ClientError."""
        return _decoded(self._send("GET", path, query=query, deadline=TIMEOUT + wait), form)

    def pages(self, form: type[Page[T]], path: str, query: Query | None = None) -> Iterator[T]:
        """Yield the items of a list, requesting its pages lazily. Raises ClientError."""
        after: str | None = None
        while True:
            page = self.get(form, path, {**(query or {}), "after": after})
            yield from page.items
            if not page.has_more:
                return
            after = page.after

    def fetch(self, path: str, *, media_type: str, query: Query | None = None) -> bytes:
        """Return the bytes at `path`, of this media type. Raises ClientError."""
        return self._send("GET", path, query=query, headers={"Accept": media_type}).content

    def post_bytes(self, path: str, content: bytes, *, media_type: str, response_type: str, query: Query) -> bytes:
        """Send bytes of one media type and return the response's bytes of another. Raises ClientError."""
        headers = {"Content-Type": media_type, "Accept": f"{response_type}, application/problem+json;q=0.1"}
        return self._send("POST", path, query=query, content=content, headers=headers).content

    @contextmanager
    def stream(
        self, path: str, *, headers: Mapping[str, str], silence: float, query: Query | None = None
    ) -> Iterator[Iterator[bytes] | None]:
        """Yield the bytes at `path` as they are received, None for a response without content; raises ClientError.

        Also raises ClientError after `silence` seconds without data.
        """
        timeout = httpx.Timeout(TIMEOUT, connect=CONNECT_SECONDS, read=silence)
        given = _given(query)
        with (
            self._reached(),
            self.client.stream("GET", path, params=given, headers=dict(headers), timeout=timeout) as response,
        ):
            if not response.is_success:
                response.read()
                raise ClientError(_problem(response))
            yield None if response.status_code == httpx.codes.NO_CONTENT else response.iter_bytes()

    def post(self, form: Form[T], path: str, body: object = None) -> T:
        """Send `body` as JSON. Raises ClientError."""
        headers = {} if body is None else {"Content-Type": "application/json"}
        content = None if body is None else _encoded(body)
        return _decoded(self._send("POST", path, content=content, headers=headers), form)

    def patch(self, form: Form[T], path: str, body: object, *, headers: Mapping[str, str] | None = None) -> T:
        """Send `body` as JSON to change the resource at `path`. Raises ClientError."""
        headers = {"Content-Type": "application/json", **(headers or {})}
        return _decoded(self._send("PATCH", path, content=_encoded(body), headers=headers), form)

    def put(self, form: Form[T], path: str, body: object, *, headers: Mapping[str, str]) -> T:
        """Send `body` as JSON to put the resource at `path`. Raises ClientError."""
        sent = {"Content-Type": "application/json", **headers}
        return _decoded(self._send("PUT", path, content=_encoded(body), headers=sent), form)

    def tagged(self, form: Form[T], path: str) -> tuple[T, str]:
        """Return the resource at `path`, and its entity tag. Raises ClientError."""
        response = self._send("GET", path)
        return _decoded(response, form), response.headers.get("ETag", "")

    def create(self, form: Form[T], path: str, body: object = None, *, key: str | None = None) -> T:
        """Send `body` as JSON to create a resource, with an idempotency `key` (a new one when None).

        The key makes it safe to retry, which this does after a lost connection. Raises ClientError.
        """
        headers = _named(key) | ({} if body is None else {"Content-Type": "application/json"})
        content = None if body is None else _encoded(body)
        return _decoded(self._retry(lambda: self._send("POST", path, content=content, headers=headers)), form)

    def upload(
        self,
        form: Form[T],
        path: str,
        file: Path,
        *,
        media_type: str,
        query: Query | None = None,
        key: str | None = None,
    ) -> T:
        """Stream a file, with a `key` as in `create`. Raises ClientError, OSError where the file can't be read."""
        headers = _named(key) | {"Content-Type": media_type, "Content-Length": str(file.stat().st_size)}

        def send() -> httpx.Response:
            with file.open("rb") as stream:
                chunks = iter(lambda: stream.read(1 << 18), b"")
                return self._send("POST", path, query=query, content=chunks, headers=headers, deadline=600)

        return _decoded(self._retry(send), form)

    def delete(self, path: str, query: Query | None = None, *, headers: Mapping[str, str] | None = None) -> None:
        """Delete the resource at `path`. Raises ClientError."""
        self._send("DELETE", path, query=query, headers=headers)

    def _retry(self, send: Callable[[], httpx.Response]) -> httpx.Response:
        """Retry after a lost connection, or while the first request is in progress."""
        lost = False
        for pause in (*PAUSES, None):
            try:
                return send()
            except ClientError as refused:
                kind = refused.problem.type
                # An unreachable service is retried only after it was reached before.
                again = kind == CONNECTION_LOST or (lost and kind in {NOT_REACHABLE, KEY_IN_USE})
                if not again or pause is None:
                    raise
                lost = True
                time.sleep(pause)
        raise AssertionError("the last pause is None")

    def _send(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        content: bytes | Iterable[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
        deadline: float = TIMEOUT,
    ) -> httpx.Response:
        timeout = httpx.Timeout(deadline, connect=CONNECT_SECONDS)
        with self._reached():
            response = self.client.request(
                method, path, params=_given(query), content=content, headers=headers, timeout=timeout
            )
        if not response.is_success:
            raise ClientError(_problem(response))
        return response

    @contextmanager
    def _reached(self) -> Iterator[None]:
        try:
            yield
        except httpx.UnsupportedProtocol as broken:
            detail = f"{self.client.base_url} is not a URL of a service: expected http:// or https://"
            raise ClientError(Problem(title="Not a URL", detail=detail)) from broken
        except (httpx.NetworkError, httpx.ProtocolError) as broken:
            never = isinstance(broken, httpx.ConnectError)
            detail = f"No response from {self.client.base_url}: {str(broken) or type(broken).__name__}"
            kind, title = (NOT_REACHABLE, "Not reachable") if never else (CONNECTION_LOST, "Connection lost")
            raise ClientError(Problem(type=kind, title=title, detail=detail)) from broken
        except httpx.TransportError as broken:
            detail = f"No response from {self.client.base_url}: {str(broken) or type(broken).__name__}"
            raise ClientError(Problem(type=NOT_REACHABLE, title="Not reachable", detail=detail)) from broken


def of_kind(kind: type[K], response: object) -> K:
    """Return the response as the expected class; raises ClientError for another one."""
    if not isinstance(response, kind):
        detail = f"Expected a {kind.__name__}, got a {type(response).__name__}; pass `of`."
        raise ClientError(Problem(title="Another task", detail=detail))
    return response


def if_match_header(tag: str | None) -> dict[str, str]:
    """Return the header that makes a change conditional on an entity tag."""
    return {} if tag is None else {"If-Match": tag}


def _named(key: str | None) -> dict[str, str]:
    """Return the idempotency header."""
    text = str(uuid4() if key is None else key).replace("\\", "\\\\").replace('"', '\\"')
    return {"Idempotency-Key": f'"{text}"'}


def _encoded(body: object) -> bytes:
    try:
        return dumps(body).encode()
    except (TypeError, ValueError, RecursionError) as broken:
        raise ClientError(Problem(title="Not JSON", detail=f"The value has no JSON form: {broken}")) from broken


def _decoded(response: httpx.Response, form: Form[T]) -> T:
    try:
        return read(response.content, form if isinstance(form, Converter) else Converter(form))
    except (ValueError, InvalidRequestError) as broken:
        detail = f"Expected a response of Relevance from {response.request.url}, got another: {broken}."
        raise ClientError(Problem(title="Not understood", detail=detail, status=response.status_code)) from broken


def _given(query: Query | None) -> Query | None:
    """Return the parameters that have a value; None for none, so that a query in the path stays."""
    return {name: value for name, value in (query or {}).items() if value is not None} or None


def _problem(response: httpx.Response) -> Problem:
    try:
        return read(response.content, _PROBLEM)
    except (ValueError, InvalidRequestError):
        detail = f"{response.request.url} responded with {response.status_code} {response.reason_phrase}".rstrip()
        return Problem(title=response.reason_phrase, detail=detail, status=response.status_code)
