"""Content negotiation: the media types of requests and responses; records as JSON and server-sent events."""

import re
from collections.abc import Sequence

from fastapi import Depends
from fastapi.sse import format_sse_event
from pydantic import TypeAdapter
from starlette.exceptions import HTTPException
from starlette.requests import Request

from app.formats import ROW_FORMATS, TABLE_FORMATS, WRITABLE_FORMATS, by_media_type, by_suffix
from app.formats.format import Format, TableFormat, WritableFormat
from app.formats.images import ImageMediaType
from relevance_bayes.records.jobs import Event

FORM = "multipart/form-data"
EVENT_STREAM = "text/event-stream"
EXPECTED = f"{', '.join(one.media_type for one in TABLE_FORMATS)}, or {FORM} with such a file"
_QUALITY = re.compile(r"[0-9]*(?:\.[0-9]*)?")
UTF_8 = frozenset({"", "utf-8", "utf8", "us-ascii"})


def media_type_of(content_type: str) -> str:
    """Return the media type of a Content-Type, without parameters."""
    return content_type.partition(";")[0].strip().lower()


def header_of(content_type: str) -> bool | None:
    """Return whether a Content-Type has the parameter header=present or, False, header=absent; else None (RFC 4180)."""
    parameters = (one.partition("=") for one in content_type.lower().split(";")[1:])
    stated = {name.strip(): value.strip().strip('"') for name, _, value in parameters}
    return {"present": True, "absent": False}.get(stated.get("header", ""))


def table_format_of(content_type: str, file_name: str | None = None) -> TableFormat:
    """Return the format of an upload by its media type, else by its file's suffix; raises 415 for an unknown one."""
    media_type = media_type_of(content_type)
    found = by_media_type(TABLE_FORMATS, media_type) or by_suffix(TABLE_FORMATS, file_name or "")
    if found is None:
        raise HTTPException(415, f"Expected {EXPECTED}; got {media_type or 'no Content-Type'}.")
    _check_charset(found, content_type)
    return found


def row_format_of(content_type: str) -> Format:
    """Return the format of rows to predict for; raises 415 for an unknown one, and for a charset other than UTF-8."""
    media_type = media_type_of(content_type)
    found = by_media_type(ROW_FORMATS, media_type)
    if found is None:
        expected = ", ".join(one.media_type for one in ROW_FORMATS)
        raise HTTPException(415, f"Expected {expected}; got {media_type or 'no Content-Type'}.")
    _check_charset(found, content_type)
    return found


def response_format(accept: str | None) -> WritableFormat:
    """Return the format of predictions with the highest weight in Accept, of equal ones the first; raises 406."""
    weights = [(weight(accept, one.media_type), one) for one in WRITABLE_FORMATS]
    maximum, best = max(weights, key=lambda weighed: weighed[0])
    if not maximum:
        possible = ", ".join(one.media_type for one in WRITABLE_FORMATS)
        raise HTTPException(406, f"Expected one of {possible} in the Accept header, got none.")
    return best


def _check_charset(found: Format, content_type: str) -> None:
    if found.is_text and (charset := _charset(content_type)) not in UTF_8:
        raise HTTPException(415, f"Expected UTF-8; got {charset}.")


def _charset(content_type: str) -> str:
    for parameter in content_type.split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip('"').lower()
    return ""


def accepts(accept: str | None, media_type: str) -> bool:
    """Return whether an Accept header (None: absent) accepts this media type."""
    return weight(accept, media_type) > 0


def weight(accept: str | None, media_type: str) -> float:
    """Return the weight of a media type in an Accept header (None: absent), from 0, refused, to 1."""
    if accept is None or not accept.strip():
        return 1.0
    weights: dict[str, float] = {}
    for offer in accept.split(","):
        offered, *parameters = (part.strip().lower() for part in offer.split(";"))
        weights[offered] = min(map(_quality, parameters), default=1.0)
    for wider in (media_type, f"{media_type.partition('/')[0]}/*", "*/*"):
        if wider in weights:
            return weights[wider]
    return 0.0


def _accepts_json(accept: str | None) -> bool:
    """Return whether an Accept header (None: absent) accepts JSON."""
    return accepts(accept, "application/json")


def image_media_type(accept: str | None) -> ImageMediaType:
    """Return the media type of an image: PNG if it is accepted, else npy; raises 406."""
    if accepts(accept, "image/png"):
        return "image/png"
    if accepts(accept, "application/x-npy"):
        return "application/x-npy"
    raise HTTPException(406, "Expected image/png or application/x-npy in the Accept header, got neither.")


def _quality(parameter: str) -> float:
    """Return the value of a `q` parameter; 1 for another parameter, and for a value outside 0 to 1."""
    name, _, value = parameter.partition("=")
    if name.strip() != "q" or not _QUALITY.fullmatch(value.strip()):
        return 1.0
    return min(float(f"0{value.strip()}"), 1.0)


def prefers_events(accept: Sequence[str]) -> bool:
    """Return whether Accept prefers an event stream to JSON; raises 406 where it accepts neither."""
    given = ",".join(accept) if accept else None
    events, json = weight(given, EVENT_STREAM), weight(given, "application/json")
    if events == json == 0:
        raise HTTPException(406, f"Expected application/json or {EVENT_STREAM} in the Accept header, got neither.")
    return events > json


def require_events_accept(accept: Sequence[str]) -> None:
    """Raise 406 where Accept does not prefer an event stream to JSON: a stream without an end is no default."""
    if not prefers_events(accept):
        raise HTTPException(406, f"Expected an Accept header that prefers {EVENT_STREAM} to JSON, got another.")


def require_json_accept(request: Request) -> None:
    """Raise 406 where the client does not accept JSON."""
    accept = request.headers.getlist("accept")
    if not _accepts_json(",".join(accept) if accept else None):
        raise HTTPException(406, "Expected application/json in the Accept header, got only other types.")


async def _require_json_accept(request: Request) -> None:
    require_json_accept(request)


AcceptsJson = Depends(_require_json_accept)
"""The dependency of routes that respond only in JSON: 406 where the client does not accept it."""


_ADAPTERS: dict[type, TypeAdapter[object]] = {}
"""Adapters by class, made at first use."""


def to_json(record: object) -> bytes:
    """Return a record as JSON; its class must not be generic."""
    kind = type(record)
    adapter = _ADAPTERS.get(kind)
    if adapter is None:
        adapter = _ADAPTERS.setdefault(kind, TypeAdapter(kind))
    return adapter.dump_json(record)


RETRY_MILLISECONDS = 1000
"""The delay after which a client reconnects when its stream breaks."""

BEGINNING = format_sse_event(retry=RETRY_MILLISECONDS)
KEEP_ALIVE = "keep-alive"
"""The comment that keeps an idle connection open through proxies."""


def rendered(event: Event) -> bytes:
    """Return an event as bytes: its number as `id`, its kind as `event`, its JSON as `data`."""
    return message(str(event.number), event.kind, event)


def message(event_id: str, kind: str, record: object) -> bytes:
    """Return a record as the message with this `id`, and this kind as `event`."""
    return format_sse_event(id=event_id, event=kind, data_str=to_json(record).decode())


def keep_alive(event_id: str) -> bytes:
    """Return a comment with an `id`, which a client that reconnects sends, though it has received no later event."""
    return format_sse_event(id=event_id, comment=KEEP_ALIVE)
