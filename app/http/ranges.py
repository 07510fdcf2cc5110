"""Parts of an answer (RFC 9110, section 14): which bytes are asked for, and what to say of them."""

import re
from dataclasses import dataclass

from starlette.datastructures import Headers

_RANGES = re.compile(r"bytes[ \t]*=[ \t]*(.+)", re.IGNORECASE)
_RANGE = re.compile(r"([0-9]{0,40})-([0-9]{0,40})")


@dataclass(frozen=True)
class ByteRange:
    """The bytes from `first` up to `last`, both included, of `size`."""

    first: int
    last: int
    size: int

    @property
    def length(self) -> int:
        """Return how many bytes they are."""
        return self.last - self.first + 1

    @property
    def reported(self) -> str:
        """Them as Content-Range says it."""
        return f"bytes {self.first}-{self.last}/{self.size}"


@dataclass(frozen=True)
class UnsatisfiableRange:
    """None of the bytes asked for are there; there are `size`."""

    size: int

    @property
    def reported(self) -> str:
        """That as Content-Range says it."""
        return f"bytes */{self.size}"


def requested_range(headers: Headers, *, size: int, tag: str) -> ByteRange | UnsatisfiableRange | None:
    """The one range that is asked for of a content of `size` bytes and with entity tag `tag`; None: all of it.

    All of it is the answer to what is no range of bytes, to several ranges, and where If-Range names another tag, a
    weak one or a date.
    """
    requested = headers.get("range")
    if requested is None or headers.get("if-range", tag).strip() != tag:
        return None
    ranges = _RANGES.fullmatch(requested.strip())
    found = None if ranges is None else _RANGE.fullmatch(ranges[1].strip())
    if found is None or found[1] == found[2] == "":
        return None
    if not found[1]:  # so many last ones
        length = min(int(found[2]), size)
        return ByteRange(size - length, size - 1, size) if length else UnsatisfiableRange(size)
    first = int(found[1])
    last = min(int(found[2]), size - 1) if found[2] else size - 1
    if found[2] and int(found[2]) < first:
        return None
    return ByteRange(first, last, size) if first < size else UnsatisfiableRange(size)
