"""Keyset pages: every list of the API has this shape."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

from relevance_bayes.types.json_schema import wire

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True)
class Page(Generic[T_co]):
    """A slice of a list."""

    __pydantic_config__ = wire()

    items: tuple[T_co, ...]
    has_more: bool
    """True if there is a following page."""
    after: str | None
    """The `after` of the following page; null at the end."""

    @classmethod
    def of(cls, items: Iterable[T_co], after: str | None) -> Self:
        """A page, and where the following one begins (None at the end)."""
        return cls(tuple(items), after is not None, after)
