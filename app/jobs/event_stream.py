"""Streams of server-sent events that go on while their source does."""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from uuid import UUID

import anyio
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from app.errors import UnauthenticatedError, UnavailableError
from app.http.negotiation import EVENT_STREAM
from app.http.reauthentication import LastingRequest
from app.http.rendering import BEGINNING, keep_alive
from app.jobs.records import Position
from app.jobs.waiter import Batch, JobWaiter, WaitingRequests
from relevance_bayes.records.errors import NotFoundError

KEEP_ALIVE_SECONDS = 15.0
"""Seconds without an event after which a stream sends a comment as a keep-alive."""

RETRY_SECONDS = 2.0
"""Seconds until a stream queries again after the database could not be reached."""


class EventStream(StreamingResponse):
    """A stream of an owner, whose source is closed also when the client disconnects."""

    def __init__(self, chunks: AsyncGenerator[bytes], waiting: WaitingRequests, owner: str) -> None:
        # Not cached, and not buffered by a proxy (nginx).
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(chunks, headers=headers, media_type=EVENT_STREAM)
        self._chunks = chunks
        self._waiting = waiting
        self._owner = owner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream; raises RateLimitError where too many are open."""
        with self._waiting.one_of(self._owner):
            await super().__call__(scope, receive, send)

    async def stream_response(self, send: Send) -> None:
        """Send chunks as they come; the next one is requested once the last one has been sent."""
        async with aclosing(self._chunks):
            await super().stream_response(send)


async def streamed(
    job_waiter: JobWaiter,
    request: LastingRequest,
    watched: UUID,
    batch: Batch,
    read: Callable[[Position], Awaitable[Batch]],
) -> AsyncGenerator[bytes]:
    """Stream events from the first batch on, until the last one, the request's credential ends, or this process shuts
    down.

    `read` returns the events after a position, and is called again when the job `watched` may have changed. It raises
    NotFoundError where the job or the position is not in the database.
    """
    yield BEGINNING
    sent_at = time.monotonic()
    with job_waiter.change_event(watched) as changed_event:
        changed_event.set()  # something may have happened since the first query
        while True:
            if batch.content or time.monotonic() - sent_at >= KEEP_ALIVE_SECONDS:
                yield batch.content or keep_alive(str(batch.last))
                sent_at = time.monotonic()
            if batch.is_end or job_waiter.watcher.is_stopped:
                return
            try:
                await request.check()
                if not batch.is_full:
                    await request.wait(changed_event, sent_at + KEEP_ALIVE_SECONDS - time.monotonic())
                changed_event.clear()
                batch = await read(batch.last)
            except (NotFoundError, UnauthenticatedError):  # it was deleted, or a new request would be refused
                return
            except UnavailableError:
                batch = Batch(b"", batch.last, is_end=False, is_full=False)
                yield keep_alive(str(batch.last))
                await anyio.sleep(RETRY_SECONDS)
                changed_event.set()
