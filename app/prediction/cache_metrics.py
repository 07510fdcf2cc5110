"""The metrics of the cache of loaded versions."""

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
