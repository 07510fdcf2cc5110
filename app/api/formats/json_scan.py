"""A look at the tokens of a large JSON body, before it is decoded into objects that take many times its memory."""

import re

from app.api.formats.json_body import MAX_DEPTH, TOO_DEEP
from app.domain.errors import Fault, InvalidDataError, MalformedBodyError

MAX_UNCHECKED = 50_000
"""Colons of a body that is decoded without a look: its objects have no more members than that together."""

_TOKENS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"(?:\s*+(:))?|([{}])', re.DOTALL)
"""A text, with a colon behind it where it is a key; a brace."""


def check_members(body: bytes, max_members: int) -> None:
    """Raise InvalidDataError for an object of more than `max_members` members, MalformedBodyError for too deep a one.

    A decoder is one call during which nothing else in the process runs: a million members of one object take it most of
    a second. This loop ends at the first member too many. What is not JSON is left to the decoder.
    """
    if body.count(b":") <= MAX_UNCHECKED:
        return
    outer: list[int] = []
    members = 0
    for token in _TOKENS.finditer(body):
        colon, brace = token.groups()
        if colon:
            members += 1
            if members > max_members:
                detail = f"An object has more than {max_members:,} members, the most that a row may have here."
                raise InvalidDataError(detail, [Fault(detail, pointer="")])
        elif brace == b"{":
            if len(outer) > MAX_DEPTH:
                raise MalformedBodyError(TOO_DEEP)
            outer.append(members)
            members = 0
        elif brace:
            if not outer:
                return
            members = outer.pop()
