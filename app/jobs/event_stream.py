"""Streams of server-sent events that go on while their source does."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from uuid import UUID

import anyio
from starlette.responses import StreamingResponse
from starlette.types import Send

from app.errors import UnauthenticatedError, UnavailableError
from app.http.negotiation import EVENT_STREAM
from app.http.reauthentication import LastingRequest
from app.http.rendering import BEGINNING, STILL_HERE
from app.jobs.waiter import Batch, JobWaiter
from relevance_bayes.types.errors import NotFoundError

STILL_HERE_SECONDS = 15.0
"""Seconds without an event after which a stream sends a comment as a keep-alive."""

LOOK_AGAIN_SECONDS = 2.0
"""Seconds until a stream queries again after the database could not be reached."""


class EventStream(StreamingResponse):
    """A stream whose source is closed also when the client disconnects."""

    def __init__(self, chunks: AsyncGenerator[bytes]) -> None:
        # Not cached, and not buffered by a proxy (nginx).
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(chunks, headers=headers, media_type=EVENT_STREAM)
        self._chunks = chunks

    async def stream_response(self, send: Send) -> None:
        """Send chunks as they come; the next one is requested once the last one has been sent."""
        async with aclosing(self._chunks):
            await super().stream_response(send)


async def streamed(
    job_waiter: JobWaiter, request: LastingRequest, watched: UUID, batch: Batch, read: Callable[[int], Awaitable[Batch]]
) -> AsyncGenerator[bytes]:
    """Stream events from the first batch on, until the last one, the request's credential ends, or this process shuts
    down.

    `read` returns the events after a number, and is called again when the job `watched` may have changed.
    """
    yield BEGINNING
    with job_waiter.change_event(watched) as rung:
        rung.set()  # something may have happened since the first query
        while True:
            if batch.content:
                yield batch.content
            if batch.is_end or job_waiter.watcher.is_stopped:
                return
            try:
                await request.check()
                if not batch.is_full and not await request.wait(rung, STILL_HERE_SECONDS):
                    yield STILL_HERE
                rung.clear()
                batch = await read(batch.last)
            except (NotFoundError, UnauthenticatedError):  # it was deleted, or a new request would be refused
                return
            except UnavailableError:
                batch = Batch(b"", batch.last, is_end=False, is_full=False)
                yield STILL_HERE
                await anyio.sleep(LOOK_AGAIN_SECONDS)
                rung.set()
