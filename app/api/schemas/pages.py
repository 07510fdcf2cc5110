"""Keyset pages: every list of the API has this shape."""

from collections.abc import Sequence
from typing import Annotated, Generic, TypeVar

from fastapi import Query
from pydantic import BaseModel, Field

Item = TypeVar("Item")

Limit = Annotated[int, Query(ge=1, le=1000, description="Most items of the answer.")]
After = Annotated[str | None, Query(description="`next` of the page before; without it, the first page.")]


class PageOut(BaseModel, Generic[Item]):
    """A slice of a list."""

    items: Sequence[Item]
    has_more: bool = Field(description="Whether there is a following page.")
    next: str | None = Field(description="What to send as `after` for the following page; null at the end.")
