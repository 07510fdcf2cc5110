"""Lists that are read slice by slice."""

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    """A slice of a keyset list, newest first unless said.

    `next` is the opaque `after` of the following page, None at the end.
    """

    items: tuple[T, ...]
    next: str | None
