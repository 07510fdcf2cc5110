"""Pages of lists."""

from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypeVar

T = TypeVar("T")


Order: TypeAlias = Literal["newest", "oldest"]
"""The order of a list by age: oldest or newest first."""


@dataclass(frozen=True)
class PageRequest:
    """A request for a page of a list by age: at most `limit` items after the cursor `after`."""

    limit: int
    after: str | None = None
    order: Order = "newest"


@dataclass(frozen=True)
class Page(Generic[T]):
    """A page of a keyset list.

    `next` is the opaque cursor of the following page, None at the end.
    """

    items: tuple[T, ...]
    next: str | None
