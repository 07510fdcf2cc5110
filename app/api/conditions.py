"""Conditional requests (RFC 9110, section 13): entity tags, and what changes may depend on."""

import re
from typing import Annotated

from fastapi import Depends, Header
from starlette.requests import Request

from app.domain.conditions import ANY, Condition
from app.domain.errors import InvalidRequestError

IF_MATCH = "If-Match"
IF_NONE_MATCH = "If-None-Match"

_TAG = r'(?:W/)?"[!#-~\x80-\xff]*"'
_TAGS = re.compile(rf"[ \t]*{_TAG}[ \t]*(?:,[ \t]*{_TAG}[ \t]*)*")

_MATCH = "Change it only if its `ETag` is one of these still, else 412: what somebody else changed is not lost."
_NONE_MATCH = "`*`: only if there is none yet, else 412."


async def _changing(
    request: Request,
    _match: Annotated[str | None, Header(alias=IF_MATCH, description=_MATCH)] = None,
    _none_match: Annotated[str | None, Header(alias=IF_NONE_MATCH, description=_NONE_MATCH)] = None,
) -> Condition:
    return condition_of(request)


async def _removing(
    request: Request, _match: Annotated[str | None, Header(alias=IF_MATCH, description=_MATCH)] = None
) -> Condition:
    return condition_of(request)


Changing = Annotated[Condition, Depends(_changing)]
"""What a change depends on that may also make what it changes."""

Removing = Annotated[Condition, Depends(_removing)]
"""What a change depends on of something that is there."""


def condition_of(request: Request) -> Condition:
    """What a request says that it depends on; raises InvalidRequestError where that can't be read."""
    return Condition(_tags(request, IF_MATCH), _tags(request, IF_NONE_MATCH))


def _tags(request: Request, header: str) -> frozenset[str] | None:
    """The tags that a header lists, None where there is none. Those that are weak are like none of ours."""
    lines = request.headers.getlist(header)
    if not lines:
        return None
    text = ", ".join(lines)
    if text.strip() == ANY:
        return frozenset({ANY})
    if not _TAGS.fullmatch(text):
        raise InvalidRequestError(f'{header} is `*`, or entity tags in quotation marks, as in "abc", "def".')
    return frozenset(re.findall(_TAG, text))
