"""Events as a stream (`text/event-stream`): the form that HTML's EventSource reads."""

from fastapi.sse import format_sse_event

from app.http.rendering import to_json
from relevance_bayes.types.jobs import Event

RETRY_MILLISECONDS = 1000
"""After how long a reader whose stream broke should ask again."""

BEGINNING = format_sse_event(retry=RETRY_MILLISECONDS)
STILL_HERE = format_sse_event(comment="still here")
"""Says nothing, so that nobody in between takes the connection for dead."""


def rendered(event: Event) -> bytes:
    """An event: its number as `id`, its kind as `event`, and as `data` what the pages of events have."""
    return format_sse_event(id=str(event.number), event=event.kind, data_str=to_json(event).decode())
