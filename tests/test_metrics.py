"""Metrics: the numbers of a process, and their text."""

import mmap
import os

import pytest

from app.metrics import MAX_NUMBERS, SIZE, Family, MetricSample, Numbers, counter, exposition, gauge, samples
from tests.expositions import scrape

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


SAMPLES = [
    MetricSample(counter("relevance_done_total", "Done.", "what", divisor=1e9), ('a "b"\\\n',), (2_500_000_000,)),
    MetricSample(gauge("relevance_size", "Size."), (), (7,)),
    MetricSample(
        Family("relevance_times_seconds", "histogram", "Times.", (), (0.1, 1.0), 1e9), (), (1, 2, 4, 9_000_000_000)
    ),
]


def test_the_text_has_each_sample() -> None:
    text, media_type = exposition(SAMPLES, None, "")
    assert media_type == "text/plain; version=0.0.4; charset=utf-8"
    found = scrape(text.decode())
    assert found.value("relevance_done_total", what='a "b"\\\n') == 2.5
    assert found.value("relevance_size") == 7
    buckets = [found.value("relevance_times_seconds_bucket", le=le) for le in ("0.1", "1.0", "+Inf")]
    assert buckets == [1, 3, 7]
    assert (found.value("relevance_times_seconds_count"), found.value("relevance_times_seconds_sum")) == (7, 9)


def test_openmetrics_is_sent_where_it_is_preferred() -> None:
    text, media_type = exposition(SAMPLES, None, "application/openmetrics-text; version=1.0.0")
    assert media_type.startswith("application/openmetrics-text; version=1.0.0")
    assert text.endswith(b"# EOF\n")


def test_each_of_several_processes_has_its_own_series() -> None:
    text, _ = exposition([], [os.getpid(), os.getppid()], "")
    found = scrape(text.decode())
    for pid in (os.getpid(), os.getppid()):
        assert (found.value("process_resident_memory_bytes", pid=str(pid)) or 0) > 0
    alone = scrape(exposition([], None, "")[0].decode())
    assert (alone.value("process_cpu_seconds_total") or 0) > 0
    assert (alone.value("process_open_fds") or 0) > 0
