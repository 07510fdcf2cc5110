"""The text of samples, in the format that Prometheus reads."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate

from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector, CollectorRegistry
from prometheus_client.utils import floatToGoString

from app.metrics import Family, MetricSample


class Collected(Collector):
    """A collector of metrics that are there."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        """Return the metrics."""
        return self._metrics


def exposition(samples: Iterable[MetricSample], pids: Sequence[int] | None, accept: str) -> tuple[bytes, str]:
    """Return the text and its media type.

    The metrics of the process follow, or else those of each of the processes `pids`, with a label `pid`.
    """
    metrics = [*_metrics_of(samples), *_processes(pids)]
    encode, media_type = choose_encoder(accept)
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Collected(metrics))
    return encode(registry), media_type


def _metrics_of(samples: Iterable[MetricSample]) -> Iterator[Metric]:
    """Yield the metrics of samples, by family."""
    grouped: dict[Family, list[MetricSample]] = {}
    for sample in samples:
        grouped.setdefault(sample.family, []).append(sample)
    for family, group in grouped.items():
        yield _metric(family, group)


def _metric(family: Family, samples: Iterable[MetricSample]) -> Metric:
    match family.kind:
        case "counter":
            counters = CounterMetricFamily(family.name, family.help, labels=family.labels)
            for sample in samples:
                counters.add_metric(sample.labels, sample.numbers[0] / family.divisor)
            return counters
        case "gauge":
            gauges = GaugeMetricFamily(family.name, family.help, labels=family.labels)
            for sample in samples:
                gauges.add_metric(sample.labels, sample.numbers[0] / family.divisor)
            return gauges
        case "histogram":
            histograms = HistogramMetricFamily(family.name, family.help, labels=family.labels)
            bounds = [*map(floatToGoString, family.bounds), "+Inf"]
            for sample in samples:
                *counts, total = sample.numbers
                buckets = list(zip(bounds, accumulate(counts), strict=True))
                histograms.add_metric(sample.labels, buckets, total / family.divisor)
            return histograms


def _processes(pids: Sequence[int] | None) -> Iterator[Metric]:
    if pids is None:
        yield from ProcessCollector(registry=None).collect()
        return
    by_name: dict[str, Metric] = {}
    for pid in pids:
        for found in ProcessCollector(pid=partial(str, pid), registry=None).collect():
            metric = by_name.setdefault(found.name, Metric(found.name, found.documentation, found.type))
            for one in found.samples:
                metric.add_sample(one.name, {"pid": str(pid)}, one.value)
    yield from by_name.values()
