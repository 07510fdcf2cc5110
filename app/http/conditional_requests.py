"""Conditional requests (RFC 9110, section 13): entity tags and preconditions."""

import hashlib
import re
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Header
from pydantic.json_schema import SkipJsonSchema
from starlette.requests import Request
from starlette.responses import Response

from app.errors import PreconditionFailedError
from relevance_bayes.records.errors import Fault, InvalidRequestError

ANY = "*"
"""Stands for whatever tag a thing has; tags themselves are quoted."""


@dataclass(frozen=True)
class Condition:
    """Tags of which a thing is to have one (`match`), or to have none (`none_match`); None is no condition.

    Each state of a thing has a tag of its own, in quotation marks; ANY is every one of them.
    """

    match: frozenset[str] | None = None
    none_match: frozenset[str] | None = None

    def require(self, what: str, tag: str | None) -> None:
        """Raise PreconditionFailedError unless a thing with this tag (None: there is no such thing) may be changed."""
        if self.match is not None and tag is None:
            raise PreconditionFailedError(f"{what} is not there.")
        if self.match is not None and not self.match & {tag, ANY}:
            raise PreconditionFailedError(f"{what} has changed since it was looked at: look again.")
        if self.none_match is not None and tag is not None and self.none_match & {tag, ANY}:
            raise PreconditionFailedError(f"{what} is there already.")


UNCONDITIONAL = Condition()


IF_MATCH = "If-Match"
IF_NONE_MATCH = "If-None-Match"

MAX_SHOWN = 60
"""The maximum number of characters of a header that a message repeats."""

REVALIDATED = "private, no-cache"
"""Cache-Control of content that may change: caches revalidate it each time."""

UNCHANGING = "private, max-age=86400, immutable"
"""Cache-Control of content that never changes: caches keep it for a day, even if it is deleted meanwhile."""

TAGGED: dict[str, object] = {
    "headers": {
        "ETag": {"schema": {"type": "string"}, "description": "The entity tag, which changes with the content."},
        "Cache-Control": {"schema": {"type": "string"}},
    }
}
"""The OpenAPI description of the headers of `conditional_response`."""

NOT_MODIFIED: dict[str, object] = {"description": "The content still has the entity tag in `If-None-Match`."}

_TAG = r'(?:W/)?"[!#-~\x80-\xff]*"'
_TAGS = re.compile(rf"[ \t]*{_TAG}[ \t]*(?:,[ \t]*{_TAG}[ \t]*)*")

_PATTERN = r'^(\*|(W/)?"[!#-~]*"([ \t]*,[ \t]*(W/)?"[!#-~]*")*)$'
"""The pattern of both headers in OpenAPI, for ASCII."""

_MATCH = "Apply the change only if the `ETag` is one of these, else 412, so that no concurrent change is lost."
_NONE_MATCH = "`*`: apply the change only if the resource does not exist yet, else 412."


_CONDITION_HEADERS = {"type": "string", "pattern": _PATTERN}
_Match = Annotated[
    str | SkipJsonSchema[None], Header(alias=IF_MATCH, description=_MATCH, json_schema_extra=dict(_CONDITION_HEADERS))
]
_NoneMatch = Annotated[
    str | SkipJsonSchema[None],
    Header(alias=IF_NONE_MATCH, description=_NONE_MATCH, json_schema_extra=dict(_CONDITION_HEADERS)),
]


async def _change_condition(request: Request, _match: _Match = None, _none_match: _NoneMatch = None) -> Condition:
    return _condition_of(request)


async def _removal_condition(request: Request, _match: _Match = None) -> Condition:
    return _condition_of(request)


ChangeCondition = Annotated[Condition, Depends(_change_condition)]
"""The precondition of a change that may also create its resource."""

RemovalCondition = Annotated[Condition, Depends(_removal_condition)]
"""The precondition of a change of an existing resource."""


def _condition_of(request: Request) -> Condition:
    """Return the preconditions of a request; raises InvalidRequestError for a malformed header."""
    return Condition(_tags(request, IF_MATCH), _tags(request, IF_NONE_MATCH))


def _tags(request: Request, header: str) -> frozenset[str] | None:
    """Return the entity tags in a header, None without the header. Weak tags match nothing: this service sends strong
    ones."""
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
    """Return the entity tag of a content: a digest of its bytes."""
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
    """Return a response with an entity tag: `tag`, or a digest of the content where it is None.

    Its status is 304, without content, where If-None-Match has the tag.
    """
    tag = tag_of(content) if tag is None else tag
    headers = {"ETag": tag, "Cache-Control": cache_control} | ({} if vary is None else {"Vary": vary})
    if is_known(request, tag):
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=media_type)


def is_known(request: Request, tag: str) -> bool:
    """Return whether If-None-Match of the request matches this entity tag."""
    known = ",".join(request.headers.getlist(IF_NONE_MATCH))
    return known.strip() == ANY or tag in {one.removeprefix("W/") for one in re.findall(_TAG, known)}


def changed_response(content: bytes) -> Response:
    """Return the response to a change: the content under its tag."""
    headers = {"ETag": tag_of(content), "Cache-Control": REVALIDATED}
    return Response(content, headers=headers, media_type="application/json")
