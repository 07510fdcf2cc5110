"""Limits on the structure of a large JSON body before it is decoded into objects that take many times its memory."""

import re
from collections.abc import Iterator

from app.errors import MalformedBodyError, TooLargeError
from app.formats.json_body import MAX_DEPTH, TOO_DEEP
from relevance_bayes.types.errors import Fault, InvalidDataError

MAX_UNCHECKED = 50_000
"""The number of colons up to which a body is decoded without a check: its objects have no more members in all."""

CHUNK_BYTES = 2**20
"""The number of bytes scanned at once; the GIL is released between two chunks."""

MAX_CONTAINERS = 1_000_000
"""The maximum number of objects and arrays of a JSON body: each takes a hundred bytes or more, but may be sent as two.
"""

MAX_CONTAINERS_OF_A_LINE = 8
"""The maximum for a line of NDJSON: a row is one object, and none of its cells may be an object or an array."""

_BRACE = re.compile(rb"[{}]")
_TOO_DEEP = re.compile(rb"[{[]{%d}" % (MAX_DEPTH + 2))


def check_members(body: bytes, max_members: int) -> None:
    """Raise InvalidDataError for an object of more than `max_members` members, MalformedBodyError for too deep nesting.

    A decoder is one call during which nothing else in the process runs: a million members of one object take most of a
    second. This ends at the first chunk with too many, and takes a fraction of the decoder's time (32 MB of rows: 0.2
    s, where a step of Python for each object takes 0.9 s). The decoder reports malformed JSON.
    """
    if body.count(b":") <= MAX_UNCHECKED:
        return
    closed = re.compile(rb"\{:{0,%d}\}" % max_members)
    outer: list[int] = []
    members = 0
    for whole in _structures(body, b"{}:"):
        structure = closed.sub(b"", whole)  # most objects contain no other one and need no step of Python
        end = 0
        for brace in _BRACE.finditer(structure):
            members += brace.start() - end  # between two braces, each colon is of a member
            end = brace.end()
            _check(members, max_members)
            if brace[0] == b"{":
                if len(outer) > MAX_DEPTH:
                    raise MalformedBodyError(TOO_DEEP)
                outer.append(members)
                members = 0
            elif outer:
                members = outer.pop()
            else:
                return
        members += len(structure) - end
        _check(members, max_members)


def check_containers(body: bytes, max_containers: int = MAX_CONTAINERS) -> None:
    """Raise TooLargeError for too many objects and arrays, MalformedBodyError where they are nested too deeply.

    32 MB of `{}` are 10 million objects, for which a decoder takes a gigabyte and blocks the process for seconds. This
    ends at the first chunk with too many; a body with few costs two counts of a character.
    """
    if len(body) <= 2 * max_containers or body.count(b"{") + body.count(b"[") <= max_containers:
        return
    containers = 0
    for opened_and_closed in _structures(body, b"{}[]"):
        if _TOO_DEEP.search(opened_and_closed):
            raise MalformedBodyError(TOO_DEEP)
        containers += opened_and_closed.count(b"{") + opened_and_closed.count(b"[")
        if containers > max_containers:
            raise TooLargeError(f"Expected at most {max_containers:,} objects and arrays, got more.")


def _check(members: int, max_members: int) -> None:
    if members > max_members:
        detail = f"Expected objects of at most {max_members:,} members, got more."
        raise InvalidDataError(detail, [Fault(detail, pointer="")])


def _structures(body: bytes, kept: bytes) -> Iterator[bytes]:
    """Yield the structural characters `kept` of each chunk of a body, without those within strings."""
    dropped = bytes({*range(256)} - {*kept, *b'",:'})
    start = is_within_string = 0
    while start < len(body):
        chunk = body[start : start + CHUNK_BYTES]
        if (len(chunk) - len(chunk.rstrip(b"\\"))) % 2:  # the last escape sequence is divided
            chunk += body[start + len(chunk) : start + len(chunk) + 1]
        start += len(chunk)
        if b"\\" in chunk:
            chunk = chunk.replace(b"\\\\", b"").replace(b'\\"', b"")
        # A comma or a colon is between two strings; without those, each pair of marks is of one string.
        parts = chunk.translate(None, dropped).replace(b'""', b"").split(b'"')
        yield b"".join(parts[is_within_string::2]).translate(None, bytes({*b",:"} - {*kept}))
        is_within_string ^= (len(parts) - 1) & 1
