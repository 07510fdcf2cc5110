"""Lists that are read slice by slice."""

from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypeVar

T = TypeVar("T")


Order: TypeAlias = Literal["newest", "oldest"]
"""Which come first."""


@dataclass(frozen=True)
class PageRequest:
    """A request for a page of a list by age: at most `limit` items that follow on the page which ended with `after`."""

    limit: int
    after: str | None = None
    order: Order = "newest"


@dataclass(frozen=True)
class Page(Generic[T]):
    """A slice of a keyset list.

    `next` is the opaque `after` of the following page, None at the end.
    """

    items: tuple[T, ...]
    next: str | None
