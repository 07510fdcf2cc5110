"""The encoding of single columns: numbers, categories by effects, calendar inputs, outlying values.

A period T becomes two columns, sin(2 pi u) and cos(2 pi u), with u = (s mod T)/T for s seconds since 1970 UTC. A
Gaussian kernel of both is a periodic kernel, exp(-2 sin^2(pi (u - u'))/w^2) with w their width [MACKAY1998]. The day of
the week changes at midnight; 31 December is beside 1 January.

Row j of text i has the target y_ij = mu + u_i + e_ij, with u_i ~ N(0, tau^2) and e_ij ~ N(0, sigma^2). The encoding of
text i is the best linear unbiased prediction of u_i,

    n_i tau^2/(n_i tau^2 + sigma^2) (mean of y_i - mu),

shrunk towards 0 the more, the fewer its n_i rows. With N rows of K texts, sums of squares within and between texts give
the variances: sigma^2 = SSW/(N - K), tau^2 = max(0, (SSB/(K - 1) - sigma^2)/n_0), n_0 = (N - sum n_i^2/N)/(K - 1). mu
is the generalised least squares mean. A text without rows has the effect 0.

One value of 1e200 among a hundred makes all others equal, to sixteen digits. Such values are found by a gap: beyond the
farthest ordinary value no other is within a thousand times its distance from the median. Columns that are only skewed
have no gap: of log-normal values with sigma 3 the greatest of 1,000 is a thousand times the next with a probability of
.0002, of Cauchy values of .001.
"""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Generic, Literal, Self, TypeVar

import numpy as np

from relevance_bayes.core.folds import content_keys
from relevance_bayes.core.types import Array, Indices, Mask
from relevance_bayes.records.values import ColumnKind, Label, Period
from relevance_bayes.tables.columns import CategoryArray
from relevance_bayes.tables.moments import Moments, signed_exponential, signed_logarithm

DAY = 86_400.0

SECONDS: dict[Period, float] = {"year": 365.2425 * DAY, "week": 7.0 * DAY, "day": DAY}
"""The length of each period."""

FIRST_MONDAY = 4.0 * DAY
"""5 January 1970, the beginning of a week."""

MIN_PERIODS = 2.0
"""The number of periods that values span where the period is an input; over less it can't be distinguished from a
trend."""


def phases(seconds: Array, period: Period) -> Array:
    """Return the positions (N,) of points in time (N,) within the period, from 0 to below 1; of a week by days."""
    if period == "week":
        seconds = np.floor(seconds / DAY) * DAY - FIRST_MONDAY
    return np.mod(seconds, SECONDS[period]) / SECONDS[period]


def calendar_columns(seconds: Array, periods: Sequence[Period]) -> Array:
    """Return sine and cosine (N, 2 P) of the positions of points in time (N,) within P periods; 0 where missing."""
    angles = 2.0 * np.pi * np.array([phases(seconds, period) for period in periods]).reshape(len(periods), len(seconds))
    columns = np.stack([np.sin(angles), np.cos(angles)], axis=1).reshape(2 * len(periods), len(seconds)).T
    return np.where(np.isnan(columns), 0.0, columns)


@dataclass
class PeriodStatistics:
    """The range of points in time, and of their positions within each period."""

    range: Moments = field(default_factory=Moments)
    positions: dict[Period, Moments] = field(default_factory=lambda: {period: Moments() for period in SECONDS})

    def add(self, seconds: Array) -> None:
        """Add points in time (N,), none of them missing."""
        self.range += Moments.of(seconds)
        for period in SECONDS:
            self.positions[period] += Moments.of(phases(seconds, period))

    def periods(self) -> tuple[Period, ...]:
        """Return the periods of which the values span at least two, and within which they are at several positions."""
        span = self.range.maximum - self.range.minimum if self.range.count else 0.0
        return tuple(
            period
            for period, seconds in SECONDS.items()
            if span >= MIN_PERIODS * seconds and not self.positions[period].is_constant
        )


FOLDS = 5
"""The folds of the training rows: a row is encoded by the targets of the other folds."""


MIN_ROWS = 2.0
"""The fewest rows of a text, in the mean, of a column that has effects on the target; others may be names or ids."""

MAX_TEXTS = 10_000
"""The most texts whose effects are kept, those with the most rows; others have the effect 0, as unknown ones."""


class EffectStatistics:
    """Counts and sums of the targets of each text in each fold, for J outputs: one number, or one for each class."""

    def __init__(self, outputs: int) -> None:
        self.places: dict[str, int] = {}
        self._counts = np.zeros((FOLDS, 0))
        self._sums = np.zeros((FOLDS, 0, outputs))
        self._squares = np.zeros((FOLDS, outputs))
        self._origin: Array | None = None

    def add(self, column: CategoryArray, targets: Array, folds: Indices) -> None:
        """Add rows (N,) with these `targets` (N, J), in the folds (N,); rows without a text are left out."""
        present = np.flatnonzero(column.codes >= 0)
        codes, folds, targets = column.codes[present], folds[present], targets[present]
        if not len(codes):
            return
        if self._origin is None:  # near the targets, so that sums of squares keep their digits
            self._origin = targets.mean(axis=0)
        targets = targets - self._origin
        used, within = np.unique(codes, return_inverse=True)
        places = np.array([self.places.setdefault(column.labels[code], len(self.places)) for code in used.tolist()])
        added = len(self.places) - self._counts.shape[1]
        self._counts = np.pad(self._counts, ((0, 0), (0, added)))
        self._sums = np.pad(self._sums, ((0, 0), (0, added), (0, 0)))
        np.add.at(self._counts, (folds, places[within]), 1.0)
        np.add.at(self._sums, (folds, places[within]), targets)
        np.add.at(self._squares, folds, np.square(targets))

    @property
    def is_sparse(self) -> bool:
        """Return whether the texts have fewer than MIN_ROWS rows each, in the mean."""
        return bool(len(self.places) * MIN_ROWS > self._counts.sum())

    @property
    def kept(self) -> Indices:
        """Return the places of the texts whose effects are kept, in ascending order."""
        return np.sort(np.argsort(-self._counts.sum(axis=0), kind="stable")[:MAX_TEXTS])

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the texts whose effects are kept, in the order of their places."""
        every = tuple(self.places)
        return tuple(every[place] for place in self.kept.tolist())

    def effects(self, *, without: int | None = None) -> Array:
        """Return the effect (K, J) of each of all texts, by all folds or without one."""
        kept = [fold for fold in range(FOLDS) if fold != without]
        counts, sums = self._counts[kept].sum(axis=0), self._sums[kept].sum(axis=0)
        return shrunken_effects(counts, sums, self._squares[kept].sum(axis=0))

    def scale(self) -> Array:
        """Return the root mean square (J,) over rows of the effects by all folds; 1 where it is 0."""
        counts = self._counts.sum(axis=0)
        mean_squares = counts @ np.square(self.effects()) / max(counts.sum(), 1.0)
        return np.where(mean_squares > 0.0, np.sqrt(mean_squares), 1.0)


def shrunken_effects(counts: Array, sums: Array, squares: Array) -> Array:
    """Return the predicted effects (K, J) of texts, of whose `counts` (K,) targets these are the `sums` (K, J).

    `squares` (J,) are the sums of the squared targets of all rows.
    """
    found = np.zeros_like(sums)
    seen = counts > 0.0
    n, texts, rows = counts[seen], int(seen.sum()), float(counts.sum())
    if texts < 2 or rows <= texts:
        return found
    means = sums[seen] / n[:, None]
    within = np.maximum(squares - (n[:, None] * np.square(means)).sum(axis=0), 0.0) / (rows - texts)
    between = (n[:, None] * np.square(means - sums.sum(axis=0) / rows)).sum(axis=0) / (texts - 1)
    n_0 = (rows - float(np.square(n).sum()) / rows) / (texts - 1)
    variance = np.maximum(between - within, 0.0) / n_0
    total = variance + within / n[:, None]
    precisions = np.divide(1.0, total, out=np.ones_like(total), where=total > 0.0)
    mean = (precisions * means).sum(axis=0) / precisions.sum(axis=0)
    shares = np.divide(variance, total, out=np.zeros_like(total), where=total > 0.0)
    found[seen] = shares * (means - mean)
    return found


def encoded_effects(statistics: EffectStatistics, *, without: int | None = None) -> tuple[tuple[float, ...], ...]:
    """Return for each of J outputs the effect of each kept text, in units of the root mean square of all."""
    effects = statistics.effects(without=without)[statistics.kept]
    scaled: Sequence[Sequence[float]] = (effects / statistics.scale()).T.tolist()
    return tuple(map(tuple, scaled))


GAP = 1e3
"""The ratio of distances from the median of the first outlying and the last ordinary value."""

MAX_SHARE = 0.02
"""The maximum share of rows that may be outlying, ..."""

MAX_ROWS = 2
"""... or their maximum number where that is more."""

MIN_ORDINARY = 10
"""The minimum number of ordinary rows."""

MAX_VALUES = 1_000
"""The maximum number of distinct values that are kept of a column, drawn by content, besides its least and greatest."""


@dataclass(frozen=True)
class OrdinaryRange:
    """The least and the greatest ordinary value of a column, with a margin for later ones."""

    minimum: float
    maximum: float

    def outside(self, values: Array) -> Mask:
        """Return a mask of the outlying values (N,); missing ones are not."""
        return (values < self.minimum) | (values > self.maximum)


@dataclass
class ValueSample:
    """At most MAX_VALUES distinct values of a column with their counts; independent of the order of rows."""

    counts: Counter[float] = field(default_factory=Counter)
    keys: dict[float, int] = field(default_factory=dict)

    def add(self, values: Array) -> None:
        """Add finite values (N,)."""
        if len(self.keys) == MAX_VALUES:
            values = values[content_keys(values[:, None], 0) <= max(self.keys.values())]
        found, counts = np.unique(values + 0.0, return_counts=True)
        keys = content_keys(found[:, None], 0)
        minimum = np.argsort(keys)[:MAX_VALUES]
        found, counts, keys = found[minimum], counts[minimum], keys[minimum]
        for value, count, key in zip(found.tolist(), counts.tolist(), keys.tolist(), strict=True):
            self.counts[value] += count
            self.keys[value] = key
        if len(self.keys) > MAX_VALUES:
            for value in sorted(self.keys, key=self.keys.__getitem__)[MAX_VALUES:]:
                del self.keys[value], self.counts[value]

    def limits(self, minimum: float, maximum: float) -> OrdinaryRange | None:
        """Return the limits of a column between `minimum` and `maximum`; None where no value is outlying."""
        counts = Counter({minimum: 1, maximum: 1}) | self.counts
        values = np.array(sorted(counts))
        rows = np.array([counts[value] for value in values.tolist()])
        centre = float(values[np.searchsorted(np.cumsum(rows), rows.sum() / 2.0)])
        with np.errstate(over="ignore"):
            distances = np.abs(values - centre)
        order = np.argsort(distances, kind="stable")
        distances, inside = distances[order], np.cumsum(rows[order])
        outside = rows.sum() - inside
        with np.errstate(over="ignore"):
            gaps = (distances[1:] > GAP * distances[:-1]) & (distances[:-1] > 0.0)
        few = (outside[:-1] <= max(MAX_ROWS, MAX_SHARE * rows.sum())) & (inside[:-1] >= MIN_ORDINARY)
        found = np.flatnonzero(gaps & few)
        if not len(found):
            return None
        space = float(distances[found[0]]) * np.sqrt(GAP)
        return OrdinaryRange(centre - float(space), centre + float(space))


F = TypeVar("F")


@dataclass(frozen=True)
class EncodedInputBase(Generic[F]):
    """An input in columns of X.

    `fill` replaces a missing value, None where missing values are refused. With `indicator` a 0/1 column "was missing"
    follows.
    """

    name: str
    fill: F | None = field(kw_only=True)
    indicator: bool = field(kw_only=True)


@dataclass(frozen=True)
class EncodedNumber(EncodedInputBase[float]):
    """A number, boolean (0 and 1) or timestamp (seconds UTC): (value - shift) / scale.

    With `unit`, of a number, its logarithm with a sign takes the place of the value: see
    `relevance_bayes.tables.moments`.

    `fill` is a value before logarithm, shift and scale. `periods` of a timestamp have a sine and a cosine each, before
    the indicator: see `relevance_bayes.tables.encoding.columns`.
    """

    kind: Literal["number", "boolean", "timestamp"]
    shift: float
    scale: float
    periods: tuple[Period, ...] = ()
    unit: float | None = None

    @property
    def width(self) -> int:
        """Return the number of its columns in X."""
        return 1 + 2 * len(self.periods) + self.indicator

    def decode(self, numbers: Array) -> Array:
        """Return the values (N,) of encoded numbers (N,)."""
        values = numbers * self.scale + self.shift
        return values if self.unit is None else signed_exponential(values, self.unit)


@dataclass(frozen=True)
class EncodedCategory(EncodedInputBase[tuple[float, ...]]):
    """One 0/1 column for each of `categories`, in order; `fill` is one share for each."""

    categories: tuple[str, ...]

    @property
    def width(self) -> int:
        """Return the number of its columns in X."""
        return len(self.categories) + self.indicator

    @cached_property
    def places(self) -> dict[str, int]:
        """Return the index of each category."""
        return {category: place for place, category in enumerate(self.categories)}


@dataclass(frozen=True)
class EncodedEffects(EncodedInputBase[float]):
    """The effect of a text on the target: see `relevance_bayes.tables.encoding.columns`.

    `effects` have a column for each output, one or one for each class, in units of their root mean square over the
    training rows, with a number for each of `categories`; other texts have 0, the mean over texts, and so has `fill`.
    """

    categories: tuple[str, ...]
    effects: tuple[tuple[float, ...], ...]

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
    the logarithm is a candidate 0 and the geometric mean; where counts, shares or a hurdle are candidates t = y.

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
    refused; `indicated_fill` (k,) is NaN also where no indicator follows. The `numbers` at `indicated` (j,) have their
    indicators at `indicators` (j,). `dates` are the indices of numbers with periods, `logarithmic` (l,) those of
    numbers by their logarithms, of `log_units` (l,). `categories` and `effects` have their first columns.
    """

    width: int
    numbers: tuple[EncodedNumber, ...]
    places: Indices
    shift: Array
    scale: Array
    fill: Array
    indicated_fill: Array
    indicated: Indices
    indicators: Indices
    dates: tuple[int, ...]
    logarithmic: Indices
    log_units: Array
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

    def with_logarithms(self, raw: Array) -> Array:
        """Return numbers (N, k) with logarithms in place of those that have them."""
        if not len(self.logarithmic):
            return raw
        values = np.array(raw)
        values[:, self.logarithmic] = signed_logarithm(raw[:, self.logarithmic], self.log_units)
        return values


@dataclass(frozen=True)
class InputEncoding:
    """Inputs in the order of X's columns, which may differ from that of a request or a table."""

    inputs: tuple[EncodedInput, ...]

    @classmethod
    def plain(cls, names: Sequence[str]) -> "InputEncoding":
        """Return columns of numbers without missing values, shift and scale."""
        return cls(tuple(EncodedNumber(name, "number", 0.0, 1.0, fill=None, indicator=False) for name in names))

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
        fill = np.array([np.nan if column.fill is None else column.fill for _, column in numbers], np.float64)
        has_indicator = np.array([column.indicator for _, column in numbers], np.bool_)
        return Layout(
            width=starts[-1],
            numbers=tuple(column for _, column in numbers),
            places=np.array([start for start, _ in numbers], np.intp),
            shift=np.array([column.shift for _, column in numbers], np.float64),
            scale=np.array([column.scale for _, column in numbers], np.float64),
            fill=fill,
            indicated_fill=np.where(has_indicator, fill, np.nan),
            indicated=np.array(indicated, np.intp),
            indicators=np.array([_last(*numbers[number]) for number in indicated], np.intp),
            dates=tuple(number for number, (_, column) in enumerate(numbers) if column.periods),
            logarithmic=np.array([number for number, (_, column) in enumerate(numbers) if column.unit], np.intp),
            log_units=np.array([column.unit for _, column in numbers if column.unit], np.float64),
            categories=tuple((start, column) for start, column in placed if isinstance(column, EncodedCategory)),
            effects=tuple((start, column) for start, column in placed if isinstance(column, EncodedEffects)),
        )

    def without_periods(self) -> Self:
        """Return the same inputs, timestamps as numbers alone."""
        inputs = (replace(one, periods=()) if isinstance(one, EncodedNumber) else one for one in self.inputs)
        return replace(self, inputs=tuple(inputs))

    def without(self, names: Collection[str]) -> Self:
        """Return the inputs of other names."""
        return replace(self, inputs=tuple(one for one in self.inputs if one.name not in names))

    def with_indicated_fills(self) -> Self:
        """Return the same inputs, where only those with an indicator of missing values fill them."""
        return replace(self, inputs=tuple(one if one.indicator else replace(one, fill=None) for one in self.inputs))

    def with_logarithms(self, others: Sequence[EncodedNumber]) -> Self:
        """Return the same inputs, with these in place of those of the same names."""
        named = {one.name: one for one in others}
        inputs = (
            replace(named[one.name], indicator=one.indicator) if one.name in named else one for one in self.inputs
        )
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


def columns_of(encoding: InputEncoding, names: Sequence[str]) -> tuple[range, ...]:
    """Return the columns of X of each of the inputs `names`."""
    starts = accumulate((column.width for column in encoding.inputs), initial=0)
    columns = {
        column.name: range(start, start + column.width) for start, column in zip(starts, encoding.inputs, strict=False)
    }
    return tuple(columns[name] for name in names)


def column_units(encoding: InputEncoding) -> tuple[tuple[float, float], ...]:
    """Return shift and scale of each column of X: raw numbers, or their logarithms, are shift + scale x, 0/1 columns
    have 0 and 1."""
    units: list[tuple[float, float]] = []
    for column in encoding.inputs:
        first = (column.shift, column.scale) if isinstance(column, EncodedNumber) else (0.0, 1.0)
        units += [first, *[(0.0, 1.0)] * (column.width - 1)]
    return tuple(units)


def column_names(encoding: InputEncoding) -> tuple[str, ...]:
    """Return a name for each column of X: the raw column's, `income (log)` for logarithms with a sign, `date (week,
    sine)` for a position within a period, `colour=red` for a category, `shop (effect)`, numbered if there are several,
    for the effect of a text, `age missing` for an indicator."""
    names: list[str] = []
    for column in encoding.inputs:
        match column:
            case EncodedNumber():
                names.append(column.name if column.unit is None else f"{column.name} (log)")
                names.extend(f"{column.name} ({period}, {wave})" for period in column.periods for wave in WAVES)
            case EncodedCategory():
                names.extend(f"{column.name}={category}" for category in column.categories)
            case EncodedEffects(effects=effects):
                numbers = [""] if len(effects) == 1 else [f" {number}" for number in range(1, len(effects) + 1)]
                names.extend(f"{column.name} (effect{number})" for number in numbers)
        if column.indicator:
            names.append(f"{column.name} missing")
    return tuple(names)
