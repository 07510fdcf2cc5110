"""Conditional requests (RFC 9110, section 13): entity tags, what changes may depend on, and what is known already."""

import hashlib
import re
from typing import Annotated

from fastapi import Depends, Header
from pydantic.json_schema import SkipJsonSchema
from starlette.requests import Request
from starlette.responses import Response

from app.http.conditions import ANY, Condition
from relevance_bayes.types.errors import Fault, InvalidRequestError

IF_MATCH = "If-Match"
IF_NONE_MATCH = "If-None-Match"

MAX_SHOWN = 60
"""Characters of a header that a message repeats."""

REVALIDATED = "private, no-cache"
"""For what may change: it is asked for again each time."""

UNCHANGING = "private, max-age=86400, immutable"
"""For what never changes: it is not asked for again for a day. It may be deleted meanwhile."""

TAGGED: dict[str, object] = {
    "headers": {
        "ETag": {"schema": {"type": "string"}, "description": "Another one after each change."},
        "Cache-Control": {"schema": {"type": "string"}},
    }
}
"""The OpenAPI description of a response that `conditional_response` gives."""

NOT_MODIFIED: dict[str, object] = {"description": "What `If-None-Match` has is still so."}

_TAG = r'(?:W/)?"[!#-~\x80-\xff]*"'
_TAGS = re.compile(rf"[ \t]*{_TAG}[ \t]*(?:,[ \t]*{_TAG}[ \t]*)*")

_PATTERN = r'^(\*|(W/)?"[!#-~]*"([ \t]*,[ \t]*(W/)?"[!#-~]*")*)$'
"""The same as OpenAPI is told, for text of ASCII."""

_MATCH = "Change it only if its `ETag` is one of these still, else 412: what somebody else changed is not lost."
_NONE_MATCH = "`*`: only if there is none yet, else 412."


_CONDITION_HEADERS = {"type": "string", "pattern": _PATTERN}
_Match = Annotated[
    str | SkipJsonSchema[None], Header(alias=IF_MATCH, description=_MATCH, json_schema_extra=dict(_CONDITION_HEADERS))
]
_NoneMatch = Annotated[
    str | SkipJsonSchema[None],
    Header(alias=IF_NONE_MATCH, description=_NONE_MATCH, json_schema_extra=dict(_CONDITION_HEADERS)),
]


async def _change_condition(request: Request, _match: _Match = None, _none_match: _NoneMatch = None) -> Condition:
    return condition_of(request)


async def _removal_condition(request: Request, _match: _Match = None) -> Condition:
    return condition_of(request)


ChangeCondition = Annotated[Condition, Depends(_change_condition)]
"""The precondition of a change that may also create its resource."""

RemovalCondition = Annotated[Condition, Depends(_removal_condition)]
"""The precondition of a change of an existing resource."""


def condition_of(request: Request) -> Condition:
    """Return what a request says that it depends on; raises InvalidRequestError where that can't be read."""
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
        detail = f'Expected `*`, or entity tags in quotation marks, as in "abc", "def"; got {text[:MAX_SHOWN]!r}.'
        raise InvalidRequestError(f"The header {header}: {detail}", [Fault(detail, header=header)])
    return frozenset(re.findall(_TAG, text))


def tag_of(content: bytes) -> str:
    """The entity tag of an answer: a digest of all that it says."""
    return f'"{hashlib.sha256(content).hexdigest()[:32]}"'


def conditional_response(
    request: Request,
    content: bytes,
    *,
    cache_control: str,
    media_type: str = "application/json",
    vary: str | None = None,
    tag: str | None = None,
) -> Response:
    """An answer with its `tag`, a digest of it where none is said.

    304 without content where the caller's If-None-Match has that already.
    """
    tag = tag_of(content) if tag is None else tag
    headers = {"ETag": tag, "Cache-Control": cache_control} | ({} if vary is None else {"Vary": vary})
    if is_known(request, tag):
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=media_type)


def is_known(request: Request, tag: str) -> bool:
    """Return whether the caller's If-None-Match says that they have what has this entity tag."""
    known = ",".join(request.headers.getlist(IF_NONE_MATCH))
    return known.strip() == ANY or tag in {one.removeprefix("W/") for one in re.findall(_TAG, known)}
