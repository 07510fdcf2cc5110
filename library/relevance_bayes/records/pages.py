"""Keyset pages of lists."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

from relevance_bayes.records.annotations import wire

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True)
class Page(Generic[T_co]):
    """A page of a list."""

    __pydantic_config__ = wire()

    items: tuple[T_co, ...]
    has_more: bool
    """True if there is a next page."""
    after: str | None
    """The `after` of the next page; null at the end."""

    @classmethod
    def of(cls, items: Iterable[T_co], after: str | None) -> Self:
        """Return a page; `after` is the beginning of the next one (None at the end)."""
        return cls(tuple(items), after is not None, after)
