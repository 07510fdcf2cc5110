"""Range requests (RFC 9110, section 14)."""

import re
from dataclasses import dataclass

from starlette.datastructures import Headers

_RANGES = re.compile(r"bytes[ \t]*=(.+)", re.IGNORECASE)
_RANGE = re.compile(r"([0-9]{0,40})-([0-9]{0,40})")


@dataclass(frozen=True)
class ByteRange:
    """The bytes from `first` to `last`, both included, of `size`."""

    first: int
    last: int
    size: int

    @property
    def length(self) -> int:
        """Return the number of bytes."""
        return self.last - self.first + 1

    @property
    def reported(self) -> str:
        """Return the range as a value of Content-Range."""
        return f"bytes {self.first}-{self.last}/{self.size}"


@dataclass(frozen=True)
class UnsatisfiableRange:
    """A range that no byte of the `size` bytes lies in."""

    size: int

    @property
    def reported(self) -> str:
        """Return the size as a value of Content-Range."""
        return f"bytes */{self.size}"


def requested_range(headers: Headers, *, size: int, tag: str) -> ByteRange | UnsatisfiableRange | None:
    """Return the one requested range of a content of `size` bytes with entity tag `tag`, or None for all of it.

    The result is None for another unit than bytes, for several ranges, and where If-Range has another tag, a weak one
    or a date.
    """
    requested = headers.get("range")
    if requested is None or headers.get("if-range", tag).strip() != tag:
        return None
    ranges = _RANGES.fullmatch(requested.strip())
    found = None if ranges is None else _RANGE.fullmatch(ranges[1].strip())
    if found is None or found[1] == found[2] == "":
        return None
    if not found[1]:  # a suffix: the number of last bytes
        length = min(int(found[2]), size)
        return ByteRange(size - length, size - 1, size) if length else UnsatisfiableRange(size)
    first = int(found[1])
    last = min(int(found[2]), size - 1) if found[2] else size - 1
    if found[2] and int(found[2]) < first:
        return None
    return ByteRange(first, last, size) if first < size else UnsatisfiableRange(size)
