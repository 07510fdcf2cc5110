"""Memory that is bounded, and loads once."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest

from app.prediction.bounded_cache import BoundedCache


def test_the_least_recently_used_leaves_first() -> None:
    cache: BoundedCache[str, str] = BoundedCache(10, len)
    cache.load("a", lambda: "aaaa")
    cache.load("b", lambda: "bbbb")
    assert cache.get("a") == "aaaa"
    cache.load("c", lambda: "cccc")
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == ("aaaa", None, "cccc")
    assert cache.used == 8


def test_what_is_larger_than_the_cache_is_returned_and_not_kept() -> None:
    cache: BoundedCache[str, str] = BoundedCache(10, len)
    cache.load("a", lambda: "aaaa")
    assert cache.load("big", lambda: "b" * 11) == "b" * 11
    assert cache.get("big") is None
    assert cache.get("a") == "aaaa"
    assert cache.used == 4


def test_a_stampede_loads_once() -> None:
    cache: BoundedCache[str, str] = BoundedCache(10, len)
    everybody, go_on = Barrier(9), Event()
    calls: list[int] = []

    def make() -> str:
        calls.append(1)
        assert go_on.wait(10)
        return "value"

    def predict() -> str:
        everybody.wait(10)
        return cache.load("key", make)

    with ThreadPoolExecutor(8) as threads:
        requested = [threads.submit(predict) for _ in range(8)]
        everybody.wait(10)
        go_on.set()
        assert [future.result(10) for future in requested] == ["value"] * 8
    assert len(calls) == 1


def test_a_load_that_fails_is_tried_again() -> None:
    cache: BoundedCache[str, str] = BoundedCache(10, len)

    def fail() -> str:
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError):
        cache.load("key", fail)
    assert cache.load("key", lambda: "value") == "value"
