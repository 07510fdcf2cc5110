"""The one module that knows httpx: bytes out, typed answers or a ClientError back."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, TypeVar

import httpx
import msgspec

from app.client.errors import NOT_REACHABLE, ClientError, Problem

T = TypeVar("T")

DEFAULT_URL = "http://127.0.0.1:8000"

PATIENCE = 30.0
"""Seconds that the service may take to answer, beyond those that it was asked to wait."""

Form: TypeAlias = type[T] | msgspec.json.Decoder[T]
"""What an answer is read as: a class, or a decoder of a union of several."""

Query = Mapping[str, str | int | float | None]
"""Parameters of a URL; None is "not said"."""


@dataclass(frozen=True)
class Http:
    """A connection to one service."""

    client: httpx.Client

    @classmethod
    def to(cls, url: str, *, api_key: str | None, transport: httpx.BaseTransport | None = None) -> "Http":
        """A connection to `url`; `transport` takes the network's place in tests."""
        headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {api_key}"} if api_key else {})
        try:
            client = httpx.Client(base_url=url.rstrip("/"), headers=headers, timeout=PATIENCE, transport=transport)
        except httpx.InvalidURL as broken:
            raise ClientError(Problem(title="Not a URL", detail=f"{url} is not a URL: {broken}")) from broken
        return cls(client)

    def close(self) -> None:
        """Give the connections back."""
        self.client.close()

    def get(self, answer: Form[T], path: str, query: Query | None = None, *, wait: float = 0.0) -> T:
        """Ask for `path`; the service may hold its answer back for `wait` seconds. Raises ClientError."""
        return _decoded(self._send("GET", path, query=query, patience=PATIENCE + wait), answer)

    def fetch(self, path: str, *, media_type: str) -> bytes:
        """The bytes at `path`, as this type. Raises ClientError."""
        return self._send("GET", path, headers={"Accept": media_type}).content

    def post(self, answer: Form[T], path: str, body: object = None) -> T:
        """Send `body` as JSON. Raises ClientError."""
        headers = {} if body is None else {"Content-Type": "application/json"}
        content = None if body is None else _encoded(body)
        return _decoded(self._send("POST", path, content=content, headers=headers), answer)

    def upload(self, answer: Form[T], path: str, file: Path, *, media_type: str, query: Query) -> T:
        """Stream a file. Raises ClientError, OSError where the file can't be read."""
        headers = {"Content-Type": media_type, "Content-Length": str(file.stat().st_size)}
        with file.open("rb") as stream:
            chunks = iter(lambda: stream.read(1 << 18), b"")
            return _decoded(
                self._send("POST", path, query=query, content=chunks, headers=headers, patience=600), answer
            )

    def delete(self, path: str) -> None:
        """Remove what stands at `path`. Raises ClientError."""
        self._send("DELETE", path)

    def _send(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        content: bytes | Iterable[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
        patience: float = PATIENCE,
    ) -> httpx.Response:
        said = {name: value for name, value in (query or {}).items() if value is not None}
        timeout = httpx.Timeout(patience, connect=5.0)
        try:
            response = self.client.request(
                method, path, params=said or None, content=content, headers=headers, timeout=timeout
            )
        except httpx.UnsupportedProtocol as broken:
            detail = f"{self.client.base_url} is no URL of a service: it must start with http:// or https://"
            raise ClientError(Problem(title="Not a URL", detail=detail)) from broken
        except httpx.TransportError as broken:
            detail = f"No answer from {self.client.base_url}: {str(broken) or type(broken).__name__}"
            raise ClientError(Problem(type=NOT_REACHABLE, title="Not reachable", detail=detail)) from broken
        if not response.is_success:
            raise ClientError(_problem(response))
        return response


def _encoded(body: object) -> bytes:
    try:
        return msgspec.json.encode(body)
    except (TypeError, ValueError) as broken:
        raise ClientError(Problem(title="Not JSON", detail=f"This can't be said in JSON: {broken}")) from broken


def _decoded(response: httpx.Response, answer: Form[T]) -> T:
    try:
        if isinstance(answer, msgspec.json.Decoder):
            return answer.decode(response.content)
        return msgspec.json.decode(response.content, type=answer)
    except (msgspec.DecodeError, UnicodeDecodeError) as broken:
        detail = f"{response.request.url} answered something else than expected: {broken}. Is it a Relevance service?"
        raise ClientError(Problem(title="Not understood", detail=detail, status=response.status_code)) from broken


def _problem(response: httpx.Response) -> Problem:
    try:
        return msgspec.json.decode(response.content, type=Problem)
    except (msgspec.DecodeError, UnicodeDecodeError):
        detail = f"{response.request.url} answered {response.status_code} {response.reason_phrase}".rstrip()
        return Problem(title=response.reason_phrase, detail=detail, status=response.status_code)
