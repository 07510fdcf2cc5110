"""Idempotent requests: their keys, and the response to the first request with a key."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class RequestKey:
    """The key of a creating request: `key` is the client's, unique within owner and `scope` (method and path).

    `fingerprint` is a digest of the whole request: the same key with another one is an error.
    """

    owner: str
    scope: str
    key: str
    fingerprint: str


@dataclass(frozen=True)
class StoredResponse:
    """A response that is repeated byte for byte."""

    status: int
    headers: tuple[tuple[str, str], ...]
    content: bytes


class Keyed(Generic[T]):
    """A creating request with its key; `response` renders what is created, at most once, before it is stored."""

    def __init__(self, key: RequestKey, response: Callable[[T], StoredResponse]) -> None:
        self.key = key
        self._response = response
        self._kept: StoredResponse | None = None

    def response(self, made: T) -> StoredResponse:
        """Return the response. Called outside of transactions, since rendering thousands of columns takes time."""
        if self._kept is None:
            self._kept = self._response(made)
        return self._kept
