"""The encoding of raw columns in the matrix X, and of the target in t, which a version stores."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Literal, Self

import numpy as np

from relevance_bayes.core.types import Array, Indices
from relevance_bayes.types.values import ColumnKind, Label, Period


@dataclass(frozen=True)
class EncodedNumber:
    """A number, boolean (0 and 1) or timestamp (seconds UTC): (value - shift) / scale.

    `fill` replaces a missing value (before shift and scale), None where missing values are refused. With `indicator` a
    0/1 column "was missing" follows. `periods` of a timestamp have a sine and a cosine each, between them: see
    `relevance_bayes.tables.encoding.calendar`.
    """

    name: str
    kind: Literal["number", "boolean", "timestamp"]
    shift: float
    scale: float
    fill: float | None
    indicator: bool
    periods: tuple[Period, ...] = ()

    @property
    def width(self) -> int:
        """Return the number of its columns in X."""
        return 1 + 2 * len(self.periods) + self.indicator


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


@dataclass(frozen=True)
class EncodedEffects:
    """The effect of a text on the target: see `relevance_bayes.tables.encoding.effects`.

    `effects` have a column for each output, one or one for each class, in units of their root mean square over the
    training rows, with a number for each of `categories`; other texts have 0, the mean over texts. `fill`, which is 0,
    replaces a missing value, None where missing values are refused. With `indicator` a 0/1 column "was missing"
    follows.
    """

    name: str
    categories: tuple[str, ...]
    effects: tuple[tuple[float, ...], ...]
    fill: float | None
    indicator: bool

    @property
    def width(self) -> int:
        """Return the number of its columns in X."""
        return len(self.effects) + self.indicator

    @cached_property
    def table(self) -> dict[str, tuple[float, ...]]:
        """Return the effects (J,) of each category."""
        return dict(zip(self.categories, zip(*self.effects, strict=True), strict=True))

    @cached_property
    def spread(self) -> Array:
        """Return a matrix S (J, J) whose product with J standard normal numbers has the distribution of an effect.

        S S' has the correlations of the known effects between outputs. Its diagonal is 1, the mean square over the
        training rows: that is what training found of the variance between texts, and the noise has the rest. It is 0
        for an output of which no text has an effect.
        """
        effects = np.array(self.effects).reshape(len(self.effects), -1)
        moments = effects @ effects.T
        sizes = np.sqrt(np.diag(moments))
        scales = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0.0)
        values, vectors = np.linalg.eigh(moments * np.outer(scales, scales))
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


WAVES = ("sine", "cosine")
"""The columns of a period, in order."""

EncodedInput = EncodedNumber | EncodedCategory | EncodedEffects


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
    refused; the `numbers` at `indicated` (j,) have their indicators at `indicators` (j,). `dates` are the indices of
    numbers with periods. `categories` and `effects` have their first columns.
    """

    width: int
    numbers: tuple[EncodedNumber, ...]
    places: Indices
    shift: Array
    scale: Array
    fill: Array
    indicated: Indices
    indicators: Indices
    dates: tuple[int, ...]
    categories: tuple[tuple[int, EncodedCategory], ...]
    effects: tuple[tuple[int, EncodedEffects], ...]

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
            indicators=np.array([_last(*numbers[number]) for number in indicated], np.intp),
            dates=tuple(number for number, (_, column) in enumerate(numbers) if column.periods),
            categories=tuple((start, column) for start, column in placed if isinstance(column, EncodedCategory)),
            effects=tuple((start, column) for start, column in placed if isinstance(column, EncodedEffects)),
        )

    def without_periods(self) -> Self:
        """Return the same inputs, timestamps as numbers alone."""
        inputs = (replace(one, periods=()) if isinstance(one, EncodedNumber) else one for one in self.inputs)
        return replace(self, inputs=tuple(inputs))

    @cached_property
    def derived(self) -> tuple[int, ...]:
        """Return the columns of X that are positions of timestamps within their periods."""
        starts = accumulate((column.width for column in self.inputs), initial=0)
        return tuple(
            start + 1 + place
            for start, column in zip(starts, self.inputs, strict=False)
            if isinstance(column, EncodedNumber)
            for place in range(2 * len(column.periods))
        )


def _last(start: int, column: EncodedNumber) -> int:
    return start + column.width - 1


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
    """Return a name for each column of X: the raw column's, `date (week, sine)` for a position within a period,
    `colour=red` for a category, `shop (effect)`, numbered if there are several, for the effect of a text, `age missing`
    for an indicator."""
    names: list[str] = []
    for column in encoding.inputs:
        match column:
            case EncodedNumber():
                names.append(column.name)
                names.extend(f"{column.name} ({period}, {wave})" for period in column.periods for wave in WAVES)
            case EncodedCategory():
                names.extend(f"{column.name}={category}" for category in column.categories)
            case EncodedEffects(effects=effects):
                numbers = [""] if len(effects) == 1 else [f" {number}" for number in range(1, len(effects) + 1)]
                names.extend(f"{column.name} (effect{number})" for number in numbers)
        if column.indicator:
            names.append(f"{column.name} missing")
    return tuple(names)
