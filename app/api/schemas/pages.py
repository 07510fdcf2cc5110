"""Keyset pages: every list of the API has this shape."""

from collections.abc import Sequence
from typing import Annotated, Generic, Self, TypeVar

from fastapi import Query
from pydantic import BaseModel, Field

Item = TypeVar("Item")

Limit = Annotated[int, Query(ge=1, le=1000, description="Most items of the answer.")]
After = Annotated[str | None, Query(description="`after` of the page before; without it, the first page.")]

LONGEST_WAIT = 60.0
Wait = Annotated[
    float, Query(ge=0, le=LONGEST_WAIT, description="Seconds to wait for something new before answering as it is.")
]


class PageOut(BaseModel, Generic[Item]):
    """A slice of a list."""

    items: Sequence[Item]
    has_more: bool = Field(description="Whether there is a following page.")
    after: str | None = Field(description="What to send as `after` for the following page; null at the end.")

    @classmethod
    def of(cls, items: Sequence[Item], after: str | None) -> Self:
        """A page, and where the following one begins (None at the end)."""
        return cls(items=items, has_more=after is not None, after=after)
