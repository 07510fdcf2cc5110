"""Scrapes of the service, read by the client library of Prometheus, and the rules of such text."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

UNITS = ("milliseconds", "ms", "minutes", "kilobytes", "kb", "megabytes", "mb", "percent")
"""Units that are not base units."""


@dataclass(frozen=True)
class Scrape:
    """The families of one scrape."""

    families: tuple[Metric, ...]

    @property
    def values(self) -> Mapping[str, float]:
        """The value of each series, by its text: name{label="value"}, with labels in alphabetical order."""
        return {series(one.name, one.labels): one.value for family in self.families for one in family.samples}

    def value(self, name: str, **labels: str) -> float | None:
        """Return the value of one series, None where there is none."""
        return self.values.get(series(name, labels))

    def total(self, name: str, **labels: str) -> float:
        """Return the sum over all series of a name with these labels."""
        samples = [one for family in self.families for one in family.samples if one.name == name]
        return sum(one.value for one in samples if labels.items() <= one.labels.items())


def series(name: str, labels: Mapping[str, str]) -> str:
    return name + "{" + ",".join(f'{label}="{value}"' for label, value in sorted(labels.items())) + "}"


def scrape(text: str) -> Scrape:
    """Return what a response has, once it keeps all the rules."""
    found = Scrape(tuple(text_string_to_metric_families(text)))
    assert list(faults(text, found)) == []
    return found


def faults(text: str, found: Scrape) -> Iterator[str]:
    """Yield what `promtool check metrics` complains of, and series that are there twice."""
    names = [family.name for family in found.families]
    if len(set(names)) != len(names):
        yield f"families twice: {names}"
    written = [line.rpartition(" ")[0] for line in text.splitlines() if line and not line.startswith("#")]
    if len(set(written)) != len(written):
        yield "series twice"
    for family in found.families:
        if not family.documentation or not family.samples:
            yield f"{family.name}: no help, or no sample"
        if not re.fullmatch(r"(relevance|process)(_[a-z0-9]+)+", family.name):
            yield f"{family.name}: name"
        if any(family.name.endswith(f"_{unit}") for unit in UNITS):
            yield f"{family.name}: unit"
        if family.type not in {"counter", "gauge", "histogram"}:
            yield f"{family.name}: type {family.type}"
        # The parser takes `_total` off the name of a counter.
        if family.name.endswith(("_total", "_count", "_sum", "_bucket")):
            yield f"{family.name}: suffix of another type"
        if family.type == "histogram":
            yield from faults_of_histogram(family)


def faults_of_histogram(family: Metric) -> Iterator[str]:
    buckets: dict[str, list[float]] = {}
    counts = {series("", one.labels): one.value for one in family.samples if one.name.endswith("_count")}
    for one in family.samples:
        if one.name.endswith("_bucket"):
            others = {name: value for name, value in one.labels.items() if name != "le"}
            buckets.setdefault(series("", others), []).append(one.value)
    if buckets.keys() != counts.keys():
        yield f"{family.name}: buckets without a count"
    for labels, cumulative in buckets.items():
        if cumulative != sorted(cumulative) or cumulative[-1] != counts[labels]:
            yield f"{family.name}{labels}: not cumulative"
