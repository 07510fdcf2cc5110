"""Slots that limit the number of large predictions in memory, except those of slow clients."""

import asyncio

MAX_SLOTS = 3
"""The number of slots: one more than the threads for large requests, so that these compute while a response is sent."""

SECONDS_FOR_CLIENT = 0.5
"""The total time that a response may wait for its client before its slot is released."""


class PredictionSlot:
    """One of the `slots` of a process, for a prediction from its reading to the end of its response.

    A slow client delays no others: the slot is released once the response has waited SECONDS_FOR_CLIENT for it, and the
    response continues without. The slot of a response that is never sent is released likewise.
    """

    def __init__(self, slots: asyncio.Semaphore) -> None:
        self._slots = slots
        self._is_taken = False
        self._seconds = SECONDS_FOR_CLIENT
        self._waits_since = 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def take(self) -> None:
        """Wait for a slot, first come, first served."""
        await self._slots.acquire()
        self._is_taken = True

    def release(self) -> None:
        """Release the slot. Idempotent."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._is_taken:
            self._is_taken = False
            self._slots.release()

    def wait_for_client(self) -> None:
        """Start the timer: the response waits for its client."""
        if self._is_taken:
            loop = asyncio.get_running_loop()
            self._waits_since = loop.time()
            self._timer = loop.call_later(self._seconds, self.release)

    def go_on(self) -> None:
        """Stop the timer: the client has received the response so far."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._seconds -= asyncio.get_running_loop().time() - self._waits_since
