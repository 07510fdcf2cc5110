"""Processes that settle the rates of owners by one database, on a clock that the test moves."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from app.database.transaction import OpenTransaction, Transaction
from app.errors import RateLimitError, UnavailableError
from app.limits.limiter import IDLE_SECONDS, RateLimiter
from app.limits.repository import OwnerLimitsRepository
from app.metrics.numbers import Numbers
from relevance_bayes.records.limits import OwnerLimits
from tests.waiting import until

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
