import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.limits.token_bucket import BURST_SECONDS, MIN_SECONDS, TokenBucket

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
