"""Families of metrics and their samples."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["counter", "gauge", "histogram"]
Labels: TypeAlias = tuple[str, ...]

NANOSECONDS = 1e9
"""The divisor of a family in seconds whose numbers are nanoseconds."""


@dataclass(frozen=True)
class Family:
    """Metrics of one name.

    A histogram has one number for each bucket of `bounds` and for the values above them, not cumulative, and their sum.
    Numbers of counters and gauges, and that sum, are divided by `divisor`.
    """

    name: str
    kind: Kind
    help: str
    labels: Labels = ()
    bounds: tuple[float, ...] = ()
    divisor: float = 1.0

    @property
    def width(self) -> int:
        """Return the number of numbers of one sample."""
        return len(self.bounds) + 2 if self.kind == "histogram" else 1


@dataclass(frozen=True)
class Sample:
    """The numbers of a family for values of its labels."""

    family: Family
    labels: Labels
    numbers: tuple[float, ...]


def counter(name: str, text: str, *labels: str, divisor: float = 1.0) -> Family:
    """Return a family of numbers that only grow; its name ends with `_total`."""
    return Family(name, "counter", text, labels, divisor=divisor)


def gauge(name: str, text: str, *labels: str) -> Family:
    """Return a family of numbers that grow and shrink."""
    return Family(name, "gauge", text, labels)


def added(samples: Mapping[tuple[Family, Labels], Sample], sample: Sample) -> Sample:
    """Return a sample with the numbers of the one of the same family and labels added, if there is one."""
    other = samples.get((sample.family, sample.labels))
    if other is None:
        return sample
    numbers = tuple(one + two for one, two in zip(other.numbers, sample.numbers, strict=True))
    return Sample(sample.family, sample.labels, numbers)
