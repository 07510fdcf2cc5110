"""The encoding of raw columns in the matrix X, and of the target in t, which a version stores."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Literal

import numpy as np

from relevance_bayes.core.types import Array, Indices
from relevance_bayes.types.values import ColumnKind, Label


@dataclass(frozen=True)
class EncodedNumber:
    """A number, boolean (0 and 1) or timestamp (seconds UTC): (value - shift) / scale.

    `fill` replaces a missing value (before shift and scale), None where missing values are refused. With `indicator` a
    0/1 column "was missing" follows.
    """

    name: str
    kind: Literal["number", "boolean", "timestamp"]
    shift: float
    scale: float
    fill: float | None
    indicator: bool

    @property
    def width(self) -> int:
        """Return the number of its columns in X."""
        return 1 + self.indicator


@dataclass(frozen=True)
class EncodedCategory:
    """One 0/1 column for each of `categories`, in order.

    `fill`, one share for each category, replaces a missing value, None where missing values are refused. With
    `indicator` a 0/1 column "was missing" follows.
    """

    name: str
    categories: tuple[str, ...]
    fill: tuple[float, ...] | None
    indicator: bool

    @property
    def width(self) -> int:
        """Return the number of its columns in X."""
        return len(self.categories) + self.indicator

    @cached_property
    def places(self) -> dict[str, int]:
        """Return the index of each category."""
        return {category: place for place, category in enumerate(self.categories)}


EncodedInput = EncodedNumber | EncodedCategory


@dataclass(frozen=True)
class EncodedTarget:
    """Regression: t = (y - shift)/scale, `classes` empty. Classification: t = k for classes[k].

    Under Gaussian and Student-t likelihoods shift and scale are mean and standard deviation of the training rows, where
    the logarithm is a candidate 0 and the geometric mean; counts are t = y.

    `logarithmic`: the model is of log t, so that noise and process have the units of logarithms, whatever the scale.
    `noise_column` has each row's noise sd where that is known, which becomes sd/scale.
    """

    name: str
    kind: ColumnKind
    shift: float
    scale: float
    classes: tuple[Label, ...]
    logarithmic: bool = False
    noise_column: str | None = None

    @property
    def latent_unit(self) -> float:
        """Return the unit of the latent function in the user's units: of the target, or of its logarithm."""
        return 1.0 if self.logarithmic else self.scale

    @property
    def latent_shift(self) -> float:
        """Return the user's value where the latent function is 0: a target, or the logarithm of one."""
        return math.log(self.scale) if self.logarithmic else self.shift


@dataclass(frozen=True, eq=False)
class Layout:
    """The columns of X as arrays, so that all numbers of a block are encoded together.

    `numbers` (k) are at `places` (k,) with their `shift`, `scale` and `fill` (k,), NaN where missing values are
    refused; the `numbers` at `indicated` (j,) have their indicators at `indicators` (j,). `categories` have their first
    columns.
    """

    width: int
    numbers: tuple[EncodedNumber, ...]
    places: Indices
    shift: Array
    scale: Array
    fill: Array
    indicated: Indices
    indicators: Indices
    categories: tuple[tuple[int, EncodedCategory], ...]

    @cached_property
    def units(self) -> tuple[tuple[float, float], ...]:
        """Shift and scale of each of the numbers."""
        return tuple((column.shift, column.scale) for column in self.numbers)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return the names of the numbers."""
        return tuple(column.name for column in self.numbers)


@dataclass(frozen=True)
class InputEncoding:
    """Inputs in the order of X's columns."""

    inputs: tuple[EncodedInput, ...]

    @classmethod
    def plain(cls, names: Sequence[str]) -> "InputEncoding":
        """Return columns of numbers without missing values, shift and scale."""
        return cls(tuple(EncodedNumber(name, "number", 0.0, 1.0, None, indicator=False) for name in names))

    @property
    def width(self) -> int:
        """Return the number of columns of X."""
        return self.layout.width

    @cached_property
    def layout(self) -> Layout:
        """Return the positions in X."""
        starts = list(accumulate((column.width for column in self.inputs), initial=0))
        placed = list(zip(starts, self.inputs, strict=False))
        numbers = [(start, column) for start, column in placed if isinstance(column, EncodedNumber)]
        indicated = [number for number, (_, column) in enumerate(numbers) if column.indicator]
        return Layout(
            width=starts[-1],
            numbers=tuple(column for _, column in numbers),
            places=np.array([start for start, _ in numbers], np.intp),
            shift=np.array([column.shift for _, column in numbers], np.float64),
            scale=np.array([column.scale for _, column in numbers], np.float64),
            fill=np.array([np.nan if column.fill is None else column.fill for _, column in numbers], np.float64),
            indicated=np.array(indicated, np.intp),
            indicators=np.array([numbers[number][0] + 1 for number in indicated], np.intp),
            categories=tuple((start, column) for start, column in placed if isinstance(column, EncodedCategory)),
        )


@dataclass(frozen=True)
class Encoding(InputEncoding):
    """Inputs in the order of X's columns, and the target."""

    target: EncodedTarget


def column_units(encoding: InputEncoding) -> tuple[tuple[float, float], ...]:
    """Return shift and scale of each column of X: raw numbers are shift + scale x, 0/1 columns have 0 and 1."""
    units: list[tuple[float, float]] = []
    for column in encoding.inputs:
        first = (column.shift, column.scale) if isinstance(column, EncodedNumber) else (0.0, 1.0)
        units += [first, *[(0.0, 1.0)] * (column.width - 1)]
    return tuple(units)


def column_names(encoding: InputEncoding) -> tuple[str, ...]:
    """Return a name for each column of X: the raw column's, `colour=red` for a category, `age missing` for an
    indicator."""
    names: list[str] = []
    for column in encoding.inputs:
        match column:
            case EncodedNumber():
                names.append(column.name)
            case EncodedCategory():
                names.extend(f"{column.name}={category}" for category in column.categories)
        if column.indicator:
            names.append(f"{column.name} missing")
    return tuple(names)
