"""Cases that have each value of each parameter."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.covering import Case, covering


def cases(*sizes: int) -> list[Case]:
    return [dict(named(values)) for values in product(*(range(size) for size in sizes))]


def named(values: tuple[int, ...]) -> list[tuple[str, int]]:
    return [(f"p{at}", value) for at, value in enumerate(values)]


@pytest.mark.parametrize(("sizes", "number"), [((11, 2, 4, 2), 11), ((2, 3), 3), ((5,), 5), ((1, 1), 1)])
def test_of_a_product_there_are_as_many_as_the_longest_parameter_has_values(
    sizes: tuple[int, ...], number: int
) -> None:
    assert len(covering(cases(*sizes))) == number


def test_values_are_paired_with_each_other_in_turn() -> None:
    every = cases(4, 2)
    assert [every[place] for place in covering(every)] == [
        {"p0": 0, "p1": 0},
        {"p0": 1, "p1": 1},
        {"p0": 2, "p1": 0},
        {"p0": 3, "p1": 1},
    ]


def test_what_is_tried_anyway_is_not_repeated() -> None:
    on_both = cases(6, 2)
    on_the_first = [case for case in on_both if case["p1"] == 0]
    on_the_second = [case for case in on_both if case["p1"] == 1]
    assert covering(on_the_second, on_the_first) == [0]
    assert covering(on_the_first, on_the_first) == []


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)), max_size=20))
def test_each_value_is_in_one_of_them(drawn: list[tuple[int, int, int]]) -> None:
    every: list[Case] = [dict(named(values)) for values in drawn]
    places = covering(every)
    assert {value for place in places for value in every[place].items()} == {
        value for case in every for value in case.items()
    }
    assert places == sorted(set(places))
