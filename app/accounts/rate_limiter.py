"""The rate limits of all owners in one process, settled each second with the other processes by the database."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from math import ceil
from threading import Event, Lock, Thread
from uuid import UUID, uuid4

from app.accounts.limit_repository import NO_DEMAND, Demand, DemandRepository, OwnerLimitsRepository
from app.database.transaction import OpenTransaction
from app.errors import ConflictError, RateLimitError, UnavailableError
from app.metrics import Numbers, counter
from relevance_bayes.records.accounts import OwnerLimits

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


RESERVED = 0.04
"""The part of a rate that is divided equally, so that requests to a process without any so far are not all refused."""


def share_of(own: float, others: Sequence[float], rate: float) -> float:
    """Return the share of a rate for a process with this demand, where `others` have theirs.

    Demands are met as far as they are below a common level (max-min fairness). What they leave is divided equally. The
    shares of all processes that know the same demands sum to the rate.
    """
    n = 1 + len(others)
    reserved = RESERVED * rate / n
    free = rate - n * reserved
    demands = [max(0.0, demand - reserved) for demand in (own, *others)]
    rest = free - sum(demands)
    if rest >= 0.0:
        return reserved + demands[0] + rest / n
    return reserved + min(demands[0], _level(sorted(demands), free))


def _level(ascending: Sequence[float], free: float) -> float:
    """Return the level at which demands that are cut there sum to `free`; they sum to more uncut."""
    below = 0.0
    for index, demand in enumerate(ascending):
        level = (free - below) / (len(ascending) - index)
        if demand >= level:
            return level
        below += demand
    return ascending[-1]


SETTLE_SECONDS = 1.0
"""The time between two settlements."""

MIN_SETTLE_SECONDS = 0.1
"""The same after a request of an owner whose rates this process did not have."""

IDLE_SECONDS = 10.0
"""The time without requests after which this process forgets the rates of an owner that owes no tokens."""

REFUSALS = counter(
    "relevance_rate_limit_refusals_total",
    "Requests that were refused because of the rate of their owner: `requests` or predicted `rows`.",
    "rate",
)

logger = logging.getLogger(__name__)


class RateLimiter:
    """The rates of owners in this process: its share of their limits.

    A thread, started by the first request, settles each second while there are requests, and until all owners are
    idle: it reads the limits that are set for owners, publishes the demand of this process, reads that of the others,
    and computes the shares. While the database is unavailable the last shares stay. Where no rate is limited, it reads
    the limits alone. `now` is a monotonic clock.
    """

    def __init__(
        self,
        transaction: OpenTransaction,
        defaults: OwnerLimits,
        *,
        numbers: Numbers | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._transaction = transaction
        self._defaults = defaults
        self._now = now
        self._numbers = Numbers() if numbers is None else numbers
        self._refusals = {name: self._numbers.place(REFUSALS, name) for name in (REQUESTS, ROWS)}
        self._process: UUID = uuid4()
        self._own: Mapping[str, OwnerLimits] = {}
        self._is_limiting = _is_limiting(defaults)
        self._rates: dict[str, OwnerRates] = {}
        self._n_processes = 1
        self._is_published = self._is_used = False
        self._used, self._unknown, self._closing = Event(), Event(), Event()
        self._lock = Lock()
        self._thread: Thread | None = None

    def of(self, owner: str) -> OwnerRates | None:
        """Return the rates of an owner; None where they are not limited."""
        if not self._is_used:
            self._begin()
        if not self._is_limiting:
            return None
        return self._rates.get(owner) or self._new(owner)

    def settle(self) -> None:
        """Read the limits of owners, and settle the rates of this process with the others.

        Raises UnavailableError, ConflictError; the shares then stay.
        """
        now = self._now()
        rates = self._rates.copy()  # requests of other owners may add to it
        for owner, one in self._rates.copy().items():
            if one.is_idle(now, IDLE_SECONDS):
                del self._rates[owner], rates[owner]
        demands = {owner: _demand(one, now) for owner, one in rates.items()}
        with self._transaction() as tx:
            own = OwnerLimitsRepository(tx).all()
            others: Mapping[UUID, Mapping[str, Demand]] = {}
            if demands or self._is_published:
                others = DemandRepository(tx, self._process).exchange(demands)
        self._is_published = bool(demands)
        self._n_processes = 1 + len(others)
        self._own = own
        self._is_limiting = _is_limiting(self._defaults) or any(map(_is_limiting, own.values()))
        for owner, one in rates.items():
            if one.limits != self._limits(owner):
                self._rates.pop(owner, None)  # the next request makes them anew
            else:
                _divide(one, demands[owner], [found.get(owner, NO_DEMAND) for found in others.values()])

    def close(self) -> None:
        """End the thread, and withdraw the demand of this process."""
        self._closing.set()
        self._used.set()
        self._unknown.set()
        if self._thread is not None:
            self._thread.join(SETTLE_SECONDS)

    def _limits(self, owner: str) -> OwnerLimits:
        return self._own.get(owner, self._defaults)

    def _new(self, owner: str) -> OwnerRates | None:
        limits = self._limits(owner)
        if not _is_limiting(limits):
            return None
        rates = self._rates[owner] = OwnerRates(limits, self._n_processes, self._now, self._count_refusal)
        self._unknown.set()
        return rates

    def _count_refusal(self, name: str) -> None:
        self._numbers.add(self._refusals[name], 1)

    def _begin(self) -> None:
        self._is_used = True
        self._used.set()
        with self._lock:
            if not self._closing.is_set() and (self._thread is None or not self._thread.is_alive()):
                self._thread = Thread(target=self._run, name="rate-limits", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while True:
            if not self._rates and not self._is_published:
                self._used.wait()
            if self._closing.is_set():
                break
            self._used.clear()
            self._is_used = False
            self._try(self.settle)
            self._closing.wait(MIN_SETTLE_SECONDS)
            self._unknown.wait(SETTLE_SECONDS - MIN_SETTLE_SECONDS)
            self._unknown.clear()
        if self._is_published:
            self._try(self._withdraw)

    def _withdraw(self) -> None:
        with self._transaction() as tx:
            DemandRepository(tx, self._process).exchange({})

    def _try(self, call: Callable[[], None]) -> None:
        try:
            call()
        except (UnavailableError, ConflictError) as error:
            logger.debug("rate limits were not settled", extra={"reason": error.detail})


def _is_limiting(limits: OwnerLimits) -> bool:
    return (limits.requests_per_second, limits.rows_per_second) != (None, None)


def _demand(rates: OwnerRates, now: float) -> Demand:
    return Demand(**{name: bucket.demand(now) for name, bucket in rates.buckets.items()})


def _divide(rates: OwnerRates, own: Demand, others: list[Demand]) -> None:
    """Set the shares of this process."""
    for name, bucket in rates.buckets.items():
        demands = [demand.of(name) for demand in others]
        bucket.rate = share_of(own.of(name), demands, rates.per_second[name])
