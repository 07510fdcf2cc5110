"""Memory for values that never change: bounded in bytes, the least recently used leave first."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

from app.metrics.families import counter, gauge
from app.metrics.numbers import Numbers

HITS = counter("relevance_version_cache_hits_total", "Versions that were found in the cache.")
MISSES = counter("relevance_version_cache_misses_total", "Versions that were loaded from the database.")
EVICTIONS = counter("relevance_version_cache_evictions_total", "Versions that were removed from a full cache.")
VERSIONS = gauge("relevance_version_cache_versions", "Versions in the cache.")
BYTES = gauge("relevance_version_cache_bytes", "Approximate memory of the versions in the cache.")
MAX_BYTES = gauge("relevance_version_cache_max_bytes", "Maximum memory of the cache.")


class CacheMetrics:
    """The numbers of one cache; the cache calls all methods under its lock."""

    def __init__(self, numbers: Numbers, max_bytes: int) -> None:
        self._values = numbers.values
        self._hits, self._misses = numbers.place(HITS), numbers.place(MISSES)
        self._evictions = numbers.place(EVICTIONS)
        self._versions, self._bytes = numbers.place(VERSIONS), numbers.place(BYTES)
        self._values[numbers.place(MAX_BYTES)] = max_bytes

    def hit(self) -> None:
        """Count a value that was found."""
        self._values[self._hits] += 1

    def miss(self) -> None:
        """Count a value that was loaded."""
        self._values[self._misses] += 1

    def change(self, evicted: int, kept: int, size: int) -> None:
        """Record evictions, and what is kept since: the number of values and their bytes."""
        self._values[self._evictions] += evicted
        self._values[self._versions] = kept
        self._values[self._bytes] = size


Key = TypeVar("Key")
Value = TypeVar("Value")


class BoundedCache(Generic[Key, Value]):
    """Values by key, together at most `capacity` bytes as `size` counts them; safe to use from many threads.

    While it `may_evict` nothing, a value for which there is no room is not kept.
    """

    def __init__(
        self,
        capacity: int,
        size: Callable[[Value], int],
        *,
        may_evict: Callable[[], bool] = lambda: True,
        metrics: CacheMetrics | None = None,
    ) -> None:
        self._capacity = capacity
        self._size = size
        self._may_evict = may_evict
        self._metrics = metrics
        self._used = 0
        self._kept: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._loading: dict[Key, Lock] = {}
        self._lock = Lock()

    @property
    def used(self) -> int:
        """Bytes of all that is kept."""
        return self._used

    def __contains__(self, key: Key) -> bool:
        return key in self._kept

    def get(self, key: Key) -> Value | None:
        """Return what is kept under `key`, None when nothing is."""
        with self._lock:
            entry = self._kept.get(key)
            if entry is None:
                return None
            self._kept.move_to_end(key)
            if self._metrics is not None:
                self._metrics.hit()
            return entry[0]

    def load(self, key: Key, make: Callable[[], Value]) -> Value:
        """Return the value of `key`, else that of `make`, which is called once for all threads that wait."""
        with self._lock:
            gate = self._loading.setdefault(key, Lock())
        try:
            with gate:
                value = self.get(key)
                if value is None:
                    value = make()
                    self._keep(key, value)
                return value
        finally:
            with self._lock:
                self._loading.pop(key, None)

    def _keep(self, key: Key, value: Value) -> None:
        size = self._size(value)
        with self._lock:
            if self._metrics is not None:
                self._metrics.miss()
            if size > self._capacity:  # it would push out all others and then still not fit
                return
            if self._used + size > self._capacity and not self._may_evict():
                return
            replaced = self._kept.pop(key, None)
            self._used += size - (replaced[1] if replaced else 0)
            self._kept[key] = (value, size)
            evicted = 0
            while self._used > self._capacity:
                _, (_, freed) = self._kept.popitem(last=False)
                self._used -= freed
                evicted += 1
            if self._metrics is not None:
                self._metrics.change(evicted, len(self._kept), self._used)
