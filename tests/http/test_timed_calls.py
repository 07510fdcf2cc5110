"""Calls for which nobody waits longer than they want to."""

from threading import Event, Thread

import pytest

from app.errors import UnavailableError
from app.http.timed_calls import MAX_RUNNING, TimedCalls


def test_what_a_call_returns_or_raises_comes_back() -> None:
    calls = TimedCalls()
    assert calls.call(lambda: 3, seconds=5.0) == 3
    with pytest.raises(ZeroDivisionError):
        calls.call(lambda: 1 // 0, seconds=5.0)


def test_nobody_waits_longer_and_too_many_that_hang_are_refused() -> None:
    calls, end = TimedCalls(), Event()
    for _ in range(MAX_RUNNING):
        with pytest.raises(UnavailableError, match="did not respond within"):
            calls.call(end.wait, seconds=0.01)
    with pytest.raises(UnavailableError, match="earlier requests"):
        calls.call(end.wait, seconds=0.01)
    end.set()


def test_a_thread_that_cannot_be_started_takes_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = TimedCalls()

    def refuse(_: Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(Thread, "start", refuse)
        for _ in range(MAX_RUNNING + 1):
            with pytest.raises(UnavailableError, match="can't start more threads"):
                calls.call(lambda: 3, seconds=5.0)
    assert calls.call(lambda: 3, seconds=5.0) == 3
