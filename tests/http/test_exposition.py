"""The text of metrics, in the formats that Prometheus reads."""

import os

from app.http.exposition import exposition
from app.metrics import Family, MetricSample, counter, gauge
from tests.expositions import scrape

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
