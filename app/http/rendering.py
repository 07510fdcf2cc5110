"""Records as JSON and as server-sent events (`text/event-stream`)."""

from fastapi.sse import format_sse_event
from pydantic import TypeAdapter

from relevance_bayes.records.jobs import Event

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
