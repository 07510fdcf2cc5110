"""Requests that may come again: what tells them apart, and what the first of them was answered."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class RequestKey:
    """A creating request as its sender named it: `key` is theirs, unique within owner and `scope` (method and path).

    `fingerprint` is a digest of all that was sent: the same key over another one is a mistake.
    """

    owner: str
    scope: str
    key: str
    fingerprint: str


@dataclass(frozen=True)
class StoredResponse:
    """An answer as the door gave it, to be given again byte for byte."""

    status: int
    headers: tuple[tuple[str, str], ...]
    content: bytes


class Keyed(Generic[T]):
    """A creating request with its key; `response` says what was made, is called before that is, and once at most."""

    def __init__(self, key: RequestKey, response: Callable[[T], StoredResponse]) -> None:
        self.key = key
        self._response = response
        self._kept: StoredResponse | None = None

    def response(self, made: T) -> StoredResponse:
        """The answer, in bytes: outside of transactions, since thousands of columns take their time."""
        if self._kept is None:
            self._kept = self._response(made)
        return self._kept
