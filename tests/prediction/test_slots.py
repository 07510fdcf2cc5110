"""Large predictions have places: few at a time, and none is kept for a client that is slow."""

import asyncio
from contextlib import suppress

import pytest

from app.prediction import runner as prediction_slots
from app.prediction.runner import PredictionSlot

SOON = 30.0


async def is_acquired_soon(slot: PredictionSlot) -> bool:
    try:
        await asyncio.wait_for(slot.take(), SOON)
    except TimeoutError:
        return False
    return True


async def waits(taking: "asyncio.Task[None]") -> bool:
    for _ in range(20):
        await asyncio.sleep(0.0)
    return not taking.done()


def test_a_place_is_taken_once_another_is_given_up() -> None:
    async def run() -> None:
        all_slots = asyncio.Semaphore(1)
        first, second = PredictionSlot(all_slots), PredictionSlot(all_slots)
        await first.take()
        taking = asyncio.ensure_future(second.take())
        assert await waits(taking)
        first.release()
        first.release()
        await asyncio.wait_for(taking, SOON)
        assert all_slots.locked()
        second.release()
        assert not all_slots.locked()

    asyncio.run(run())


def test_a_client_that_takes_what_comes_leaves_its_response_the_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prediction_slots, "SECONDS_FOR_CLIENT", SOON)

    async def run() -> None:
        all_slots = asyncio.Semaphore(1)
        slot = PredictionSlot(all_slots)
        await slot.take()
        for _ in range(100):
            slot.wait_for_client()
            await asyncio.sleep(0.0)
            slot.go_on()
        assert all_slots.locked()

    asyncio.run(run())


@pytest.mark.parametrize("n_waits", [1, 3])
def test_a_slow_client_delays_nobody(monkeypatch: pytest.MonkeyPatch, n_waits: int) -> None:
    monkeypatch.setattr(prediction_slots, "SECONDS_FOR_CLIENT", 0.05)

    async def run() -> None:
        all_slots = asyncio.Semaphore(1)
        slow, other = PredictionSlot(all_slots), PredictionSlot(all_slots)
        await slow.take()
        for wait in range(n_waits):
            if wait:
                slow.go_on()
            slow.wait_for_client()
            await asyncio.sleep(0.03)  # too little for itself
        assert await is_acquired_soon(other)
        slow.go_on()
        slow.wait_for_client()
        slow.release()
        assert all_slots.locked()  # by the other one

    asyncio.run(run())


def test_who_stops_waiting_for_a_place_takes_none() -> None:
    async def run() -> None:
        all_slots = asyncio.Semaphore(1)
        first, second = PredictionSlot(all_slots), PredictionSlot(all_slots)
        await first.take()
        taking = asyncio.ensure_future(second.take())
        assert await waits(taking)
        taking.cancel()
        with suppress(asyncio.CancelledError):
            await taking
        second.release()
        assert all_slots.locked()
        first.release()
        assert not all_slots.locked()

    asyncio.run(run())
