"""Families of metrics and their samples."""

from collections.abc import Iterable
from dataclasses import dataclass
from operator import add
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


def sums(samples: Iterable[Sample]) -> list[Sample]:
    """Return one sample for each family and labels, with the sums of their numbers."""
    found: dict[tuple[Family, Labels], tuple[float, ...]] = {}
    for one in samples:
        key = (one.family, one.labels)
        found[key] = tuple(map(add, found[key], one.numbers)) if key in found else one.numbers
    return [Sample(family, labels, numbers) for (family, labels), numbers in found.items()]
