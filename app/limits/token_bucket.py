"""The token bucket of one rate in one process."""

from threading import Lock

BURST_SECONDS = 1.0
"""A full bucket has the tokens of this time."""

MIN_SECONDS = 0.5
"""The minimum time over which demand is measured."""


class TokenBucket:
    """Tokens that are added at `rate` a second, up to those of BURST_SECONDS, and at least one.

    A use is admitted while the number of tokens is positive, and charged by its cost: the number may become negative,
    and further uses then wait until it is positive again. So the rate holds over time for uses of any size. `now` is a
    monotonic time in seconds; the bucket is full at its beginning, and safe to use from many threads.
    """

    __slots__ = ("_at", "_charged", "_demand", "_lock", "_measured_at", "_refused", "_size", "rate", "tokens")

    def __init__(self, rate: float, now: float) -> None:
        self.rate = rate
        self.tokens = self.capacity
        self._at = self._measured_at = now
        self._charged = 0.0
        self._refused = 0
        self._size = 1.0
        self._demand = 0.0
        self._lock = Lock()

    @property
    def capacity(self) -> float:
        """Return the maximum number of tokens."""
        return max(1.0, BURST_SECONDS * self.rate)

    def admit(self, now: float, cost: int = 0) -> bool:
        """Return whether there are tokens, and take those of a use whose cost is known before.

        A use that is not admitted counts as demand.
        """
        with self._lock:
            tokens = self.tokens + (now - self._at) * self.rate
            capacity = self.rate * BURST_SECONDS
            if capacity < 1.0:
                capacity = 1.0
            if tokens > capacity:
                tokens = capacity
            self._at = now
            if tokens > 0.0:
                self.tokens = tokens - cost
                self._charged += cost
                return True
            self.tokens = tokens
            self._refused += 1
            return False

    def charge(self, cost: int) -> None:
        """Take the tokens of a use that was admitted, whose cost is known only then."""
        with self._lock:
            self.tokens -= cost
            self._charged += cost
            self._size += (cost - self._size) / 4.0

    def seconds_to_wait(self) -> float:
        """Return the seconds from the last use until there are tokens."""
        return max(0.0, -self.tokens) / self.rate

    def owed(self, now: float) -> float:
        """Return the number of tokens that are missing until uses are admitted again."""
        return max(0.0, -self.tokens - (now - self._at) * self.rate)

    def demand(self, now: float) -> float:
        """Return the tokens a second that were requested lately, those that are owed included.

        A use that was refused counts as a moving average of those that were not. It is measured over MIN_SECONDS at
        least, so that calls in quick succession return the same.
        """
        with self._lock:
            elapsed = now - self._measured_at
            if elapsed >= MIN_SECONDS:
                requested = (self._charged + self._refused * self._size) / elapsed
                self._demand = (self._demand + requested) / 2.0
                self._measured_at, self._charged, self._refused = now, 0.0, 0
            return self._demand + self.owed(now)
