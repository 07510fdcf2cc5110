"""The numbers of a process."""

import mmap

import pytest

from app.metrics import MAX_NUMBERS, SIZE, Family, MetricSample, Numbers, counter, gauge, samples

REQUESTS = counter("requests_total", "Requests.", "route")
TIMES = Family("times_seconds", "histogram", "Times.", (), (0.1, 1.0), 1e9)


def test_numbers_are_read_as_they_were_counted() -> None:
    numbers = Numbers()
    here, there = numbers.place(REQUESTS, "/here"), numbers.place(REQUESTS, '/"there"\n')
    times = numbers.place(TIMES)
    numbers.values[there] += 3
    numbers.values[times + 1] += 1
    numbers.values[times + 3] += 500_000_000
    numbers.add(here, 2)
    assert list(numbers.samples()) == [
        MetricSample(REQUESTS, ("/here",), (2,)),
        MetricSample(REQUESTS, ('/"there"\n',), (3,)),
        MetricSample(TIMES, (), (0, 1, 0, 500_000_000)),
    ]


def test_the_same_labels_have_the_same_place() -> None:
    numbers = Numbers()
    assert numbers.place(REQUESTS, "/here") == numbers.place(REQUESTS, "/here") != numbers.place(REQUESTS, "/there")


def test_the_memory_alone_describes_the_numbers() -> None:
    memory = mmap.mmap(-1, SIZE)
    numbers = Numbers(memory)
    numbers.values[numbers.place(gauge("size", "Size."))] = 7
    assert [(one.family.help, one.numbers) for one in samples(memoryview(memory[:]))] == [("Size.", (7,))]


def test_more_numbers_than_there_is_memory_for_are_refused() -> None:
    numbers = Numbers()
    wide = Family("wide", "histogram", "Wide.", ("label",), tuple(map(float, range(MAX_NUMBERS // 2 - 2))))
    numbers.place(wide, "1")
    numbers.place(wide, "2")
    with pytest.raises(OverflowError, match="numbers of metrics"):
        numbers.place(wide, "3")
    assert len(list(numbers.samples())) == 2


def test_longer_labels_than_there_is_memory_for_are_refused() -> None:
    numbers = Numbers()
    numbers.place(REQUESTS, "/here")
    with pytest.raises(OverflowError, match="labels of metrics"):
        numbers.place(REQUESTS, "/" * SIZE)
    assert len(list(numbers.samples())) == 1
