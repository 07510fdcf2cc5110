"""Large predictions of which the numbers are in memory: few at a time, unless their clients are slow."""

import asyncio

MAX_SLOTS = 3
"""One more than the threads for large requests: while a response is being sent, others are computed."""

SECONDS_FOR_CLIENT = 0.5
"""That a response may wait for its client, all in all, before another prediction begins beside it."""


class PredictionSlot:
    """One of the `slots` of a process, for a prediction from its reading to the end of its response.

    A client that takes its response slowly delays nobody: the slot is released once the response has waited
    SECONDS_FOR_CLIENT for it, and the response goes on without. So is the slot of a response that is never sent.
    """

    def __init__(self, slots: asyncio.Semaphore) -> None:
        self._slots = slots
        self._is_taken = False
        self._seconds = SECONDS_FOR_CLIENT
        self._waits_since = 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def take(self) -> None:
        """Wait for it, in the order of coming."""
        await self._slots.acquire()
        self._is_taken = True

    def release(self) -> None:
        """Give it up, where that has not been done."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._is_taken:
            self._is_taken = False
            self._slots.release()

    def wait_for_client(self) -> None:
        """From now on the response waits for its client."""
        if self._is_taken:
            loop = asyncio.get_running_loop()
            self._waits_since = loop.time()
            self._timer = loop.call_later(self._seconds, self.release)

    def go_on(self) -> None:
        """The client has taken what there was."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._seconds -= asyncio.get_running_loop().time() - self._waits_since
