"""The rate limits of all owners in one process, settled each second with the other processes by the database."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from threading import Event, Lock, Thread
from uuid import UUID, uuid4

from app.database.transaction import OpenTransaction
from app.errors import ConflictError, UnavailableError
from app.limits.demand_repository import NO_DEMAND, Demand, DemandRepository
from app.limits.rates import REQUESTS, ROWS, OwnerRates
from app.limits.repository import OwnerLimitsRepository
from app.metrics.numbers import Numbers, counter
from relevance_bayes.records.limits import OwnerLimits

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

MIN_SECONDS = 0.1
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
            self._closing.wait(MIN_SECONDS)
            self._unknown.wait(SETTLE_SECONDS - MIN_SECONDS)
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
