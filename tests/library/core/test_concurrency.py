"""Parts of a computation on several threads."""

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue

import numpy as np
import pytest

from relevance_bayes.core.concurrency import concurrently, lazy

PARTS = ((1, 2, 3), (), (10, 20))


def part(values: tuple[int, ...]) -> Generator[int, None, int]:
    yield from values
    return sum(values)


def outcome(run: Generator[int, None, list[int]]) -> tuple[list[int], list[int]]:
    """The yielded items of a generator, and its result."""
    seen = []
    while True:
        try:
            seen.append(next(run))
        except StopIteration as end:
            return seen, end.value


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_values_and_results_are_in_the_order_of_the_parts(threads: int) -> None:
    assert outcome(concurrently([part(one) for one in PARTS], threads)) == ([1, 2, 3, 10, 20], [6, 0, 30])


def test_two_parts_run_at_once() -> None:
    queues: list[SimpleQueue[int]] = [SimpleQueue(), SimpleQueue()]

    def exchange(own: int) -> Generator[int, None, int]:
        queues[1 - own].put(own)
        yield own
        return queues[own].get(timeout=60)

    assert outcome(concurrently([exchange(0), exchange(1)], 2)) == ([0, 1], [1, 0])


@pytest.mark.parametrize("threads", [1, 2])
def test_the_error_is_that_of_the_first_part_that_has_one(threads: int) -> None:
    def failing(text: str) -> Generator[int, None, int]:
        yield 1
        raise ValueError(text)

    run = concurrently([part((5,)), failing("second"), failing("third")], threads)
    assert [next(run), next(run)] == [5, 1]
    with pytest.raises(ValueError, match="second"):
        next(run)


def test_parts_end_where_the_whole_is_closed() -> None:
    ended = list[int]()

    def endless(number: int) -> Generator[int, None, int]:
        try:
            while True:
                yield number
        finally:
            ended.append(number)

    run = concurrently([endless(0), endless(1)], 2)
    assert next(run) == 0
    run.close()
    assert sorted(ended) == [0, 1]


def test_settings_of_numpy_hold_in_other_threads() -> None:
    def divide() -> Generator[int, None, int]:
        yield 0
        return int(np.isinf(np.ones(1) / np.zeros(1))[0])

    with np.errstate(divide="ignore"):
        assert outcome(concurrently([divide(), divide()], 2)) == ([0, 0], [1, 1])


def test_a_lazy_attribute_is_computed_once_for_each_instance() -> None:
    computed = list[int]()

    @dataclass(frozen=True)
    class Number:
        value: int

        @lazy
        def square(self) -> int:
            """The square."""
            computed.append(self.value)
            return self.value**2

    one, other = Number(3), Number(4)
    assert (one.square, one.square, other.square) == (9, 9, 16)
    assert computed == [3, 4]
    assert Number.square.__doc__ == "The square."


def test_lazy_attributes_of_two_instances_are_computed_at_once() -> None:
    queues: list[SimpleQueue[int]] = [SimpleQueue(), SimpleQueue()]

    @dataclass(frozen=True)
    class Number:
        own: int

        @lazy
        def other(self) -> int:
            queues[1 - self.own].put(self.own)
            return queues[self.own].get(timeout=60)

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda own: Number(own).other, [0, 1])) == [1, 0]
