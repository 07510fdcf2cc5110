"""The rates of one owner in one process, and their headers (draft-ietf-httpapi-ratelimit-headers-10)."""

import time
from collections.abc import Callable, Mapping
from math import ceil

from app.errors import RateLimitError
from app.limits.token_bucket import TokenBucket
from relevance_bayes.records.limits import OwnerLimits

REQUESTS, ROWS = "requests", "rows"
NOUNS = {REQUESTS: "requests", ROWS: "predicted rows"}

POLICY_HEADER, STATE_HEADER = b"ratelimit-policy", b"ratelimit"


class OwnerRates:
    """The limited rates of an owner in this process, which has a share of each.

    `now` is a monotonic clock, and `refused` is called with the name of a rate for each refusal.
    """

    def __init__(
        self,
        limits: OwnerLimits,
        n_processes: int,
        now: Callable[[], float] = time.monotonic,
        refused: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._now = now
        self._refused = refused
        self.limits = limits
        self.used_at = at = now()
        per_second = {REQUESTS: limits.requests_per_second, ROWS: limits.rows_per_second}
        self.per_second: Mapping[str, int] = {name: rate for name, rate in per_second.items() if rate is not None}
        self.buckets = {name: TokenBucket(rate / n_processes, at) for name, rate in self.per_second.items()}
        self._requests, self._rows = self.buckets.get(REQUESTS), self.buckets.get(ROWS)
        policy = ", ".join(f'"{name}";q={rate};w=1' for name, rate in self.per_second.items())
        self._policy = (POLICY_HEADER, policy.encode())
        self._admitting = ", ".join(f'"{name}";r=%d;t=1' for name in self.per_second).encode()
        self._listed = tuple(self.buckets.values())

    def take_request(self) -> None:
        """Count a request; raises RateLimitError where it is above the limit."""
        self.used_at = at = self._now()
        bucket = self._requests
        if bucket is not None and not bucket.admit(at, 1):
            raise self._error(REQUESTS, bucket)

    def check_rows(self) -> None:
        """Raise RateLimitError where the rows predicted so far are above the limit."""
        bucket = self._rows
        if bucket is not None and not bucket.admit(self._now()):
            raise self._error(ROWS, bucket)

    def charge_rows(self, rows: int) -> None:
        """Count predicted rows."""
        if self._rows is not None:
            self._rows.charge(rows)

    def is_idle(self, now: float, seconds: float) -> bool:
        """Return whether there was no request for so long, and no tokens are owed."""
        return now - self.used_at > seconds and not any(bucket.owed(now) for bucket in self._listed)

    def headers(self) -> tuple[tuple[bytes, bytes], tuple[bytes, bytes]]:
        """Return the headers `RateLimit-Policy` and `RateLimit`: what is left in this process, and the seconds until
        there is more."""
        state: tuple[float, ...] = ()
        for bucket in self._listed:
            tokens = bucket.tokens
            if tokens <= 0.0:
                break
            state += (tokens,)
        else:
            return self._policy, (STATE_HEADER, self._admitting % state)
        return self._policy, (STATE_HEADER, b", ".join(map(_state, self.per_second, self._listed)))

    def _error(self, name: str, bucket: TokenBucket) -> RateLimitError:
        seconds = _seconds(bucket)
        limit = self.per_second[name]
        self._refused(name)
        return RateLimitError(
            f"Expected at most {limit:,} {NOUNS[name]} per second of this owner, got more: retry after {seconds:,} s.",
            retry_after=seconds,
        )


def _state(name: str, bucket: TokenBucket) -> bytes:
    return f'"{name}";r={int(max(0.0, bucket.tokens))};t={_seconds(bucket)}'.encode()


def _seconds(bucket: TokenBucket) -> int:
    return max(1, ceil(bucket.seconds_to_wait()))
