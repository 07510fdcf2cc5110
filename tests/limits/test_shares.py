import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.limits.limiter import RESERVED, share_of

DEMANDS = st.lists(st.floats(0.0, 1e6), min_size=1, max_size=12)
RATES = st.floats(1.0, 1e5)


def shares(demands: list[float], rate: float) -> list[float]:
    return [share_of(own, demands[:n] + demands[n + 1 :], rate) for n, own in enumerate(demands)]


@given(DEMANDS, RATES)
def test_the_shares_of_all_processes_sum_to_the_rate(demands: list[float], rate: float) -> None:
    assert sum(shares(demands, rate)) == pytest.approx(rate)


@given(DEMANDS, RATES)
def test_each_process_has_a_part_of_the_rate_whatever_the_others_demand(demands: list[float], rate: float) -> None:
    assert min(shares(demands, rate)) >= RESERVED * rate / len(demands) * (1 - 1e-9)


@given(DEMANDS, RATES)
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
