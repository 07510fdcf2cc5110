"""Calls in a thread, cancelled when the client disconnects or the server cancels the request."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar, TypeVarTuple, Unpack

from anyio import CapacityLimiter, to_thread
from starlette.types import Receive

from app.errors import ClientLeftError
from relevance_bayes.tasks.cancellation import Cancellation

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")


async def run_for_client(
    receive: Receive | None,
    call: Callable[[Unpack[Arguments]], T],
    *arguments: *Arguments,
    limiter: CapacityLimiter | None = None,
    before: Callable[[], Awaitable[None]] | None = None,
) -> T:
    """Run a call in a thread, after `before`, and cancel it where the client disconnects.

    The call ends at its next `check_cancelled`. The body must have been received completely: messages from `receive`
    are dropped. With `receive` None, the call ends when the task of the request is cancelled. Raises ClientLeftError.
    """
    cancellation = Cancellation()

    async def run() -> T:
        if before is not None:
            await before()
        return await to_thread.run_sync(cancellation.run, call, *arguments, limiter=limiter)

    work = asyncio.ensure_future(run())
    leaving = None if receive is None else asyncio.ensure_future(_disconnected(receive))
    try:
        await asyncio.wait({work} if leaving is None else {work, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            return work.result()
        raise ClientLeftError("The client closed the connection before the response was ready.")
    finally:
        cancellation.cancel()
        if leaving is not None:
            leaving.cancel()
        if not cancellation.has_begun:
            work.cancel()  # a running thread keeps its token of the limiter until it ends
        work.add_done_callback(_retrieve_error)


async def _disconnected(receive: Receive) -> None:
    """Return when the client has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _retrieve_error(work: "asyncio.Future[T]") -> None:
    """Retrieve the error of work whose result nobody awaits, so that asyncio does not log it."""
    if not work.cancelled():
        work.exception()
