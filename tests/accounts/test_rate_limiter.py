"""The rate limits of owners: token buckets, shares of processes, and the limiter."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.accounts.limit_repository import OwnerLimitsRepository
from app.accounts.rate_limiter import (
    BURST_SECONDS,
    IDLE_SECONDS,
    MIN_SECONDS,
    RESERVED,
    RateLimiter,
    TokenBucket,
    share_of,
)
from app.database.transaction import OpenTransaction, Transaction
from app.errors import RateLimitError, UnavailableError
from app.metrics import Numbers
from relevance_bayes.records.accounts import OwnerLimits
from tests.waiting import until

RATES = st.floats(0.1, 10_000.0)
GAPS = st.lists(st.tuples(st.floats(0.0, 3.0), st.integers(1, 5_000)), min_size=1, max_size=200)


@given(RATES, GAPS)
def test_what_is_admitted_is_at_most_a_burst_and_the_rate_over_the_time_and_the_last_use(
    rate: float, uses: list[tuple[float, int]]
) -> None:
    bucket, now, charged, last = TokenBucket(rate, 0.0), 0.0, 0, 0
    for gap, cost in uses:
        now += gap
        if bucket.admit(now):
            bucket.charge(cost)
            charged, last = charged + cost, cost
    maximum = max(1.0, BURST_SECONDS * rate) + rate * now + last
    assert charged <= maximum * (1 + 1e-9)


@given(RATES, st.floats(1.0, 20.0))
def test_a_client_that_always_sends_gets_the_whole_rate(rate: float, load: float) -> None:
    bucket, admitted = TokenBucket(rate, 0.0), 0
    seconds, step = 200.0 / rate, 1.0 / (rate * load)
    for n in range(int(seconds / step)):
        if bucket.admit(n * step):
            bucket.charge(1)
            admitted += 1
    assert admitted >= seconds * rate - 2


def test_a_full_bucket_admits_a_burst_and_then_one_request_for_each_token() -> None:
    bucket = TokenBucket(5.0, 0.0)
    for _ in range(5):
        assert bucket.admit(0.0)
        bucket.charge(1)
    assert not bucket.admit(0.0)
    assert bucket.admit(0.1)
    bucket.charge(1)
    assert bucket.seconds_to_wait() == pytest.approx(0.1)
    assert not bucket.admit(0.2)
    assert bucket.admit(0.21)


def test_a_use_above_the_capacity_is_admitted_and_paid_afterwards() -> None:
    bucket = TokenBucket(100.0, 0.0)
    assert bucket.admit(0.0)
    bucket.charge(1_000)
    assert bucket.seconds_to_wait() == pytest.approx(9.0)
    assert not bucket.admit(9.0)
    assert bucket.admit(9.01)


def test_a_rate_below_one_a_second_admits_single_requests() -> None:
    bucket = TokenBucket(0.25, 0.0)
    admitted = 0
    for second in range(40):
        if bucket.admit(second):
            bucket.charge(1)
            admitted += 1
    assert admitted == 11


def test_a_rate_that_was_lowered_takes_the_tokens_above_its_capacity() -> None:
    bucket = TokenBucket(100.0, 0.0)
    bucket.rate = 10.0
    assert bucket.admit(0.0)
    assert bucket.tokens == 10.0


def test_demand_is_what_was_charged_and_refused_by_second_and_follows_changes() -> None:
    bucket, demand = TokenBucket(10.0, 0.0), 0.0
    for n in range(400):
        if bucket.admit(n / 100):
            bucket.charge(1)
        if n % 100 == 99:
            demand = bucket.demand((n + 1) / 100)
    assert demand == pytest.approx(100.0, rel=0.1)
    for second in range(5, 25):
        demand = bucket.demand(second)
    assert demand < 1e-3


def test_refused_uses_count_as_those_that_were_admitted_and_debts_as_demand() -> None:
    bucket, demand = TokenBucket(100.0, 0.0), 0.0
    for n in range(2_000):
        if bucket.admit(n / 100):
            bucket.charge(50)
        if n % 100 == 99:
            demand = bucket.demand((n + 1) / 100)
    assert demand == pytest.approx(100 * 50, rel=0.1)
    bucket = TokenBucket(100.0, 0.0)
    bucket.admit(0.0)
    bucket.charge(5_000)
    for second in range(1, 20):
        demand = bucket.demand(second)
    assert demand == pytest.approx(4_900 - 19 * 100, rel=0.01)


def test_demand_is_measured_over_some_time() -> None:
    bucket = TokenBucket(10.0, 0.0)
    assert bucket.admit(0.0)
    bucket.charge(1)
    assert bucket.demand(0.5 * MIN_SECONDS) == 0.0
    assert bucket.demand(MIN_SECONDS) == pytest.approx(0.5 / MIN_SECONDS)
    assert math.isfinite(bucket.demand(MIN_SECONDS))


DEMANDS = st.lists(st.floats(0.0, 1e6), min_size=1, max_size=12)
SHARED_RATES = st.floats(1.0, 1e5)


def shares(demands: list[float], rate: float) -> list[float]:
    return [share_of(own, demands[:n] + demands[n + 1 :], rate) for n, own in enumerate(demands)]


@given(DEMANDS, SHARED_RATES)
def test_the_shares_of_all_processes_sum_to_the_rate(demands: list[float], rate: float) -> None:
    assert sum(shares(demands, rate)) == pytest.approx(rate)


@given(DEMANDS, SHARED_RATES)
def test_each_process_has_a_part_of_the_rate_whatever_the_others_demand(demands: list[float], rate: float) -> None:
    assert min(shares(demands, rate)) >= RESERVED * rate / len(demands) * (1 - 1e-9)


@given(DEMANDS, SHARED_RATES)
def test_more_demand_is_no_smaller_share_and_only_satisfied_demand_has_less(demands: list[float], rate: float) -> None:
    found = shares(demands, rate)
    for demand, share in zip(demands, found, strict=True):
        for other, others in zip(demands, found, strict=True):
            if demand > other:
                assert share >= others - 1e-6 * rate
            if others < share - 1e-6 * rate:
                assert others >= other - 1e-6 * rate or other <= demand


def test_one_process_has_the_whole_rate() -> None:
    assert share_of(0.0, [], 100.0) == share_of(1e9, [], 100.0) == pytest.approx(100.0)


def test_demands_above_the_rate_are_cut_at_a_common_level() -> None:
    assert shares([1_000.0, 1_000.0], 100.0) == pytest.approx([50.0, 50.0])
    assert shares([10.0, 1_000.0, 1_000.0], 100.0) == pytest.approx([10.0, 45.0, 45.0])


def test_a_process_that_is_alone_with_its_demand_has_nearly_all() -> None:
    assert shares([1_000.0, 0.0], 100.0) == pytest.approx([98.0, 2.0])


def test_what_is_left_is_divided_equally() -> None:
    assert shares([20.0, 40.0], 100.0) == pytest.approx([40.0, 60.0])


LIMITS = OwnerLimits(requests_per_second=100, rows_per_second=1_000)


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class ByHand(RateLimiter):
    """A limiter that settles when the test does."""

    def _begin(self) -> None:
        """Begin no thread."""


def sent(limiter: RateLimiter, n: int, owner: str = "acme") -> int:
    """The number of n requests that were within the limit."""
    rates = limiter.of(owner)
    if rates is None:
        return n
    admitted = 0
    for _ in range(n):
        try:
            rates.take_request()
        except RateLimitError:
            continue
        admitted += 1
    return admitted


def predicted(limiter: RateLimiter, requests: int, rows: int) -> int:
    """The number of rows that were within the limit."""
    rates = limiter.of("acme")
    assert rates is not None
    rates.take_request()
    admitted = 0
    for _ in range(requests):
        try:
            rates.check_rows()
        except RateLimitError:
            continue
        rates.charge_rows(rows)
        admitted += rows
    return admitted


def over(
    limiters: list[RateLimiter], clock: Clock, seconds: int, send: Callable[[int], int], *, steps: int = 20
) -> float:
    """The number admitted in each second; the processes settle each second, one after the other."""
    admitted = 0
    for step in range(seconds * steps):
        clock.now += 1.0 / steps
        for n, limiter in enumerate(limiters):
            admitted += send(n)
            if step % steps == n:
                limiter.settle()
    return admitted / seconds


@pytest.mark.thorough
@pytest.mark.parametrize("weights", [(10, 10, 10, 10), (40, 0, 0, 0), (30, 2, 2, 1), (20, 20, 0, 1)])
def test_processes_together_hold_the_limit_of_requests(transaction: OpenTransaction, weights: tuple[int, ...]) -> None:
    clock = Clock()
    limiters = [ByHand(transaction, LIMITS, now=clock) for _ in weights]

    def send(n: int) -> int:
        return sent(limiters[n], weights[n])

    over([*limiters], clock, 4, send)
    rate = over([*limiters], clock, 10, send)
    assert rate == pytest.approx(LIMITS.requests_per_second, rel=0.1)


@pytest.mark.thorough
@pytest.mark.parametrize("weights", [(1, 1, 1), (4, 0, 0), (3, 1, 0)])
def test_processes_together_hold_the_limit_of_rows_whatever_the_size_of_requests(
    transaction: OpenTransaction, weights: tuple[int, ...]
) -> None:
    clock = Clock()
    limiters = [ByHand(transaction, OwnerLimits(rows_per_second=1_000), now=clock) for _ in weights]

    def send(n: int) -> int:
        return predicted(limiters[n], weights[n], 400)

    over([*limiters], clock, 10, send)
    rate = over([*limiters], clock, 30, send)
    assert rate == pytest.approx(1_000, rel=0.1)


def test_load_that_moves_to_another_process_has_the_rate_there_within_seconds(transaction: OpenTransaction) -> None:
    clock = Clock()
    limiters = [ByHand(transaction, LIMITS, now=clock) for _ in range(3)]
    over([*limiters], clock, 5, lambda n: sent(limiters[n], 20 if n == 0 else 1))
    over([*limiters], clock, 5, lambda n: sent(limiters[n], 20 if n == 2 else 0))
    rate = over([*limiters], clock, 5, lambda n: sent(limiters[n], 20 if n == 2 else 0))
    assert rate == pytest.approx(LIMITS.requests_per_second, rel=0.1)


def test_refusals_are_counted_by_their_rate(transaction: OpenTransaction) -> None:
    numbers = Numbers()
    limiter = ByHand(transaction, LIMITS, numbers=numbers, now=Clock())
    assert sent(limiter, 103) == 100
    rates = limiter.of("bolt")
    assert rates is not None
    rates.charge_rows(5_000)
    with pytest.raises(RateLimitError):
        rates.check_rows()
    found = {sample.labels: sample.numbers for sample in numbers.samples()}
    assert found == {("requests",): (3,), ("rows",): (1,)}


def test_an_owner_that_comes_during_a_settlement_keeps_its_tokens(transaction: OpenTransaction) -> None:
    @contextmanager
    def interrupted() -> Iterator[Transaction]:
        with transaction() as tx:
            assert sent(limiter, 60, "bolt") == 60
            yield tx

    limiter = ByHand(interrupted, LIMITS, now=Clock())
    sent(limiter, 1)
    limiter.settle()
    assert sent(limiter, 60, "bolt") == 40


def test_owners_do_not_use_the_rates_of_others(transaction: OpenTransaction) -> None:
    clock = Clock()
    limiter = ByHand(transaction, LIMITS, now=clock)
    assert sent(limiter, 1_000, "acme") == 100
    assert sent(limiter, 100, "bolt") == 100


def test_while_the_database_is_away_the_last_shares_stay(transaction: OpenTransaction) -> None:
    clock, is_away = Clock(), False

    @contextmanager
    def reached() -> Iterator[Transaction]:
        if is_away:
            raise UnavailableError("The database can't be reached.")
        with transaction() as tx:
            yield tx

    limiters = [ByHand(reached, LIMITS, now=clock) for _ in range(2)]
    over([*limiters], clock, 5, lambda n: sent(limiters[n], 20))
    is_away = True
    admitted = 0
    for _ in range(400):
        clock.now += 0.05
        for limiter in limiters:
            admitted += sent(limiter, 20)
            with pytest.raises(UnavailableError):
                limiter.settle()
    assert admitted / 20 == pytest.approx(100, rel=0.1)


def test_limits_that_are_set_for_an_owner_hold_after_a_settlement_and_until_they_are_removed(
    transaction: OpenTransaction,
) -> None:
    clock = Clock()
    limiter = ByHand(transaction, OwnerLimits(), now=clock)
    assert limiter.of("acme") is None
    for limits, admitted in (({"requests_per_second": 7}, 7), ({"requests_per_second": 3}, 3), ({}, 50)):
        with transaction() as tx:
            OwnerLimitsRepository(tx).set("acme", limits)
        limiter.settle()
        assert sent(limiter, 50) == admitted
        assert limiter.of("bolt") is None


def test_an_owner_may_have_no_limit_where_the_others_have_one(transaction: OpenTransaction) -> None:
    limiter = ByHand(transaction, LIMITS, now=Clock())
    with transaction() as tx:
        OwnerLimitsRepository(tx).set("acme", {"requests_per_second": None, "rows_per_second": None})
    limiter.settle()
    assert limiter.of("acme") is None
    assert limiter.of("bolt") is not None


def test_idle_owners_are_forgotten(transaction: OpenTransaction) -> None:
    clock = Clock()
    limiter = ByHand(transaction, LIMITS, now=clock)
    first = limiter.of("acme")
    limiter.settle()
    assert limiter.of("acme") is first
    clock.now += IDLE_SECONDS + 1
    limiter.settle()
    assert limiter.of("acme") is not first


def test_an_owner_that_owes_tokens_is_not_forgotten_before_it_has_paid(transaction: OpenTransaction) -> None:
    clock = Clock()
    limiter = ByHand(transaction, LIMITS, now=clock)
    assert predicted(limiter, 1, 30_000) == 30_000
    for _ in range(28):
        clock.now += 1.0
        limiter.settle()
    assert predicted(limiter, 1, 1) == 0
    clock.now += 2.0
    assert predicted(limiter, 1, 1) == 1
    clock.now += IDLE_SECONDS + 1
    limiter.settle()
    assert predicted(limiter, 1, 1_001) == 1_001


@pytest.mark.thorough
def test_the_thread_settles_after_the_first_request_and_withdraws_at_the_end(transaction: OpenTransaction) -> None:
    with transaction() as tx:
        OwnerLimitsRepository(tx).set("acme", {"requests_per_second": 2})
    limiter, other = RateLimiter(transaction, OwnerLimits()), RateLimiter(transaction, LIMITS)
    until(lambda: limiter.of("acme") is not None)
    assert other.of("acme") is not None
    rates = limiter.of("acme")
    assert rates is not None
    until(lambda: rates.buckets["requests"].rate < 2.0)
    other.close()
    until(lambda: rates.buckets["requests"].rate == 2.0)
    limiter.close()
