"""A race: the same rows for all who enter it, size by size."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from benchmarks.accuracy.measuring import Package
from benchmarks.files import Split
from relevance_bayes.core.types import Array


@dataclass(frozen=True, eq=False)
class Fitted:
    """Functions (support vectors, trees) kept, and the answer at new points: means, or classes."""

    functions: int
    predict: Callable[[Array], Array]


@dataclass(frozen=True)
class Entrant:
    """`learn` fits one split, any search counted; `maximum` rows, if it has a limit, and why."""

    name: str
    learn: Callable[[Split], Fitted]
    package: Package | None = None
    maximum: int | None = None
    limit: str = ""

    @property
    def installed(self) -> bool:
        """True where its package is installed."""
        return self.package is None or find_spec(self.package.module) is not None

    def runs(self, rows: int) -> bool:
        """True where it is measured on so many rows."""
        return self.installed and (self.maximum is None or rows <= self.maximum)


@dataclass(frozen=True)
class Race:
    """`split` draws so many rows, by the number of the draw; `error` is that of an answer to the truth, both (N,).

    The first entrant is the one that ratios are taken to.
    """

    name: str
    split: Callable[[int, int], Split]
    error: Callable[[Array, Array], float]
    entrants: tuple[Entrant, ...]
    sizes: tuple[int, ...]
    quick_sizes: tuple[int, ...]

    def entrant(self, name: str) -> Entrant:
        """By its name."""
        (found,) = (entrant for entrant in self.entrants if entrant.name == name)
        return found

    def absent(self) -> tuple[str, ...]:
        """A note on each that was not measured, at some size or at all."""
        limits = [
            f"{one.name}: to {one.maximum:,} rows; {one.limit}." for one in self.entrants if one.maximum is not None
        ]
        return (
            *limits,
            *(
                f"{one.name}: NOT RUN: {one.package.name} is not installed."
                for one in self.entrants
                if one.package is not None and not one.installed
            ),
        )


def rmse(predicted: Array, truth: Array) -> float:
    """The root of the mean squared error."""
    return float(np.sqrt(mean_square(predicted, truth)))


def mean_square(predicted: Array, truth: Array) -> float:
    """The mean squared error."""
    return float(np.mean((predicted - truth) ** 2))


def wrong(predicted: Array, truth: Array) -> float:
    """The share of classes that are not the true ones, in percent."""
    return 100.0 * float(np.mean(predicted != truth))
