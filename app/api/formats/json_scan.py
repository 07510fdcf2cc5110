"""A look at the structure of a large JSON body, before it is decoded into objects that take many times its memory."""

import re
from collections.abc import Iterator

from app.api.formats.json_body import MAX_DEPTH, TOO_DEEP
from app.domain.errors import Fault, InvalidDataError, MalformedBodyError

MAX_UNCHECKED = 50_000
"""Colons of a body that is decoded without a look: its objects have no more members than that together."""

CHUNK_BYTES = 2**20
"""Read at once: the interpreter is free for others between two chunks."""

_NOT_STRUCTURE = bytes({*range(256)} - {*b'"{}:,'})
_BRACE = re.compile(rb"[{}]")


def check_members(body: bytes, max_members: int) -> None:
    """Raise InvalidDataError for an object of more than `max_members` members, MalformedBodyError for too deep a one.

    A decoder is one call during which nothing else in the process runs: a million members of one object take it most of
    a second. This ends at the first chunk with too many, and takes a fraction of the decoder's time (32 MB of rows:
    0.2 s, where a step of Python for each object takes 0.9 s). What is not JSON is left to the decoder.
    """
    if body.count(b":") <= MAX_UNCHECKED:
        return
    closed = re.compile(rb"\{:{0,%d}\}" % max_members)
    outer: list[int] = []
    members = 0
    for whole in _structures(body):
        structure = closed.sub(b"", whole)  # most objects hold no other one, and need no step of Python
        end = 0
        for brace in _BRACE.finditer(structure):
            members += brace.start() - end  # all between two braces are colons
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


def _check(members: int, max_members: int) -> None:
    if members > max_members:
        detail = f"An object has more than {max_members:,} members, the most that one may have here."
        raise InvalidDataError(detail, [Fault(detail, pointer="")])


def _structures(body: bytes) -> Iterator[bytes]:
    """Yield the braces and colons of each chunk of a body, without those within its strings."""
    start = is_within_string = 0
    while start < len(body):
        chunk = body[start : start + CHUNK_BYTES]
        if (len(chunk) - len(chunk.rstrip(b"\\"))) % 2:  # the last escape is cut in two
            chunk += body[start + len(chunk) : start + len(chunk) + 1]
        start += len(chunk)
        if b"\\" in chunk:
            chunk = chunk.replace(b"\\\\", b"").replace(b'\\"', b"")
        # Between two strings a comma or a colon stands: as long as these do, two marks in succession are of one string.
        parts = chunk.translate(None, _NOT_STRUCTURE).replace(b'""', b"").split(b'"')
        yield b"".join(parts[is_within_string::2]).replace(b",", b"")
        is_within_string ^= (len(parts) - 1) & 1
