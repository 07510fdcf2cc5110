"""Pages of lists by keyset pagination: opaque cursors mark the end of a page."""

import json
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, Literal, TypeAlias, TypeVar, TypeVarTuple
from uuid import UUID

from sqlalchemy import Select
from sqlalchemy.orm import InstrumentedAttribute

from relevance_bayes.records.errors import Fault, InvalidRequestError

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
class KeysetPage(Generic[T]):
    """A page of a keyset list.

    `next` is the opaque cursor of the following page, None at the end.
    """

    items: tuple[T, ...]
    next: str | None


R = TypeVar("R")
Age = TypeVar("Age", UUID, int)
Columns = TypeVarTuple("Columns")
Key = UUID | int | str | tuple[float, int] | tuple[str, str]


def by_age(
    query: Select[*Columns], column: InstrumentedAttribute[Age], part: PageRequest, read: Callable[[str], Age]
) -> Select[*Columns]:
    """Return the query for a page and one more row, which shows that another page follows.

    `column` increases with each row that is inserted. Raises InvalidRequestError where `read` refuses `after`.
    """
    newest_first = part.order == "newest"
    if part.after is not None:
        last = read(part.after)
        query = query.where(column < last if newest_first else column > last)
    return query.order_by(column.desc() if newest_first else column).limit(part.limit + 1)


def page(rows: Sequence[R], limit: int, item: Callable[[R], T], key: Callable[[R], Key]) -> KeysetPage[T]:
    """Return a page of at most `limit` items from up to `limit + 1` rows."""
    kept = rows[:limit]
    return KeysetPage(tuple(item(row) for row in kept), _write(key(kept[-1])) if len(rows) > limit and kept else None)


def read_id(after: str) -> UUID:
    """Return the id in a cursor; raises InvalidRequestError."""
    value = _read(after)
    if isinstance(value, str):
        try:
            return UUID(value)
        except ValueError as error:
            raise _foreign() from error
    raise _foreign()


def read_name(after: str) -> str:
    """Return the name in a cursor; raises InvalidRequestError."""
    value = _read(after)
    if isinstance(value, str) and "\0" not in value:
        return value
    raise _foreign()


def read_number(after: str) -> int:
    """Return the number in a cursor; raises InvalidRequestError."""
    value = _read(after)
    if isinstance(value, int) and 0 <= value < 2**31:
        return value
    raise _foreign()


def read_weight(after: str) -> tuple[float, int]:
    """Return the absolute weight and the number in a cursor; raises InvalidRequestError."""
    match _read(after):
        case [float(size), int(number)] if 0 <= number < 2**31:
            return size, number
    raise _foreign()


def read_time_and_id(after: str) -> tuple[datetime, UUID]:
    """Return the time and the id in a cursor; raises InvalidRequestError."""
    match _read(after):
        case [str(at), str(found)]:
            try:
                moment = datetime.fromisoformat(at)
                return moment.astimezone(UTC), UUID(found)
            except (ValueError, OverflowError) as error:
                raise _foreign() from error
    raise _foreign()


def _write(key: Key) -> str:
    text = json.dumps(str(key) if isinstance(key, UUID) else key)
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _read(after: str) -> object:
    try:
        value: object = json.loads(b64decode(after + "=" * (-len(after) % 4), b"-_", validate=True))
    except (ValueError, RecursionError) as error:
        raise _foreign() from error
    return value


def _foreign() -> InvalidRequestError:
    detail = "Expected `after` to be the cursor of an earlier page of the same list."
    return InvalidRequestError(detail, [Fault(detail, parameter="after")])
