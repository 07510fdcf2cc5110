"""Predictions of rows with unknown categories and with missing values, as mixtures.

Which of the known categories such a row is like is not known, so it may be any of them, each with the probability that
it had among the training rows. Its predictive distribution is the mixture of those of the row with each category: the
mean is the weighted mean, and by the law of total variance the interval is wider by the differences between categories.

A text that is encoded by its effect on the target has, where it is unknown, an effect that is normally distributed
about 0, as in the random effects model of `relevance_bayes.tables.encoding.columns`.

A missing value may be that of any training row, the more probably the more alike the others of both rows are: see
`relevance_bayes.tasks.supervised.input_rows`. Inputs whose missing values have an indicator are learned with it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Self

import numpy as np

from relevance_bayes.core.likelihoods.mixture import Groups, mixture
from relevance_bayes.core.models.effects import Contributions, contributions, joint
from relevance_bayes.core.models.pool import AnyReady
from relevance_bayes.core.models.prediction import Prediction
from relevance_bayes.core.types import Array, Indices, Mask
from relevance_bayes.records.errors import Fault, TooLargeError
from relevance_bayes.records.predictions import MissingValue, UnknownCategory
from relevance_bayes.tables.columns import Block, CategoryArray, taken
from relevance_bayes.tables.encoding import EncodedCategory, EncodedEffects, InputEncoding, encode_inputs, gaps
from relevance_bayes.tables.encoding.table import unknown_texts
from relevance_bayes.tasks.cancellation import check_cancelled
from relevance_bayes.tasks.prediction import ROWS_OF_AVERAGE, PredictOptions
from relevance_bayes.tasks.supervised.input_rows import InputDistribution, InputDonors, normal_quantiles, with_known

MAX_COMBINATIONS = ROWS_OF_AVERAGE
"""The most combinations of categories of one row; text columns are inputs by default up to 50 categories."""

GENERATOR = 19
"""The generator of a Korobov lattice of MAX_COMBINATIONS points: its powers are odd, so that each column's
points are one in each of as many equal parts of (0, 1)."""

SHIFT = 21
"""The shift of the points of each further column of effects, so that no point is at the lower end of all of them."""

MAX_LISTED = 100
"""The most cells that a response lists."""


KNOWN, UNKNOWN, MISSING = 0, 1, 2
"""The states of a cell: a known value, an unknown text, and none."""

AVERAGED = PredictOptions()
"""Options by which all rows are averaged for which that is possible."""


@dataclass(frozen=True, eq=False)
class AveragedRows:
    """The n rows of a block whose only faults are unknown categories and missing values, at `places` (n,) in it.

    `inputs` (n, d) are encoded, with zeros in the columns of an unknown category or effect, and of missing values.
    `states` (n, k) are those of the inputs' cells; rows with the same ones are consecutive.
    """

    distribution: InputDistribution
    places: Indices
    inputs: Array
    states: Indices
    noise_sd: Array | None
    cells: tuple[UnknownCategory, ...]
    nulls: tuple[MissingValue, ...]

    @classmethod
    def of(
        cls,
        distribution: InputDistribution,
        block: Block,
        faults: Sequence[Fault],
        noise_sd: Array | None,
        options: PredictOptions = AVERAGED,
    ) -> Self | None:
        """Return the rows of a block with such faults, as far as the options permit it; None without any.

        Raises TooLargeError for more than `max_averaged` of them.
        """
        encoding = distribution.encoding
        states = _states(encoding, block, options)
        counts = np.bincount([fault.row for fault in faults if fault.row is not None], minlength=len(states))
        places = np.flatnonzero((counts > 0) & ((states != KNOWN).sum(axis=1) == counts))
        places = places[~np.isin(places, [*options.unread])] if options.unread else places
        places = places[_have_donors(distribution, states[places])]
        if not len(places):
            return None
        if options.max_averaged is not None and len(places) > options.max_averaged:
            raise TooLargeError(_too_many(options.max_averaged, len(places)))
        cells, nulls = _listed(encoding, block, states, places)
        places = places[np.lexsort(states[places].T[::-1])]
        return cls(
            distribution,
            places,
            _encoded(encoding, block, places, states[places]),
            states[places],
            None if noise_sd is None else noise_sd[places],
            cells,
            nulls,
        )

    def of_rows(self, chosen: Mask) -> Self:
        """Return those that are `chosen` (N,) of the block."""
        kept = chosen[self.places]
        noise_sd = None if self.noise_sd is None else self.noise_sd[kept]
        return replace(
            self,
            places=self.places[kept],
            inputs=self.inputs[kept],
            states=self.states[kept],
            noise_sd=noise_sd,
        )

    def predictions(self, ready: AnyReady, rows_at_once: int) -> Iterator[tuple[Indices, Prediction, Array | None]]:
        """Yield the places of some rows at a time, in order, with their predictions and supports (n,)."""
        for one in self.completed(rows_at_once):
            found, support = ready.predict(one.inputs, one.noise_sd)
            averaged = mixture(found, one.groups, is_sample=one.is_sample)
            yield self.places[one.some], averaged, None if support is None else one.groups.mean(support)

    def contributions(
        self, ready: AnyReady, max_functions: int, rows_at_once: int, latents: Indices | None
    ) -> Iterator[Contributions]:
        """Yield the contributions to some rows at a time, in order; `latents` (n,) are the explained ones."""
        for one in self.completed(rows_at_once):
            of = None if latents is None else np.repeat(latents[one.some], one.weights.shape[1])
            yield contributions(
                ready, one.inputs, max_functions, latents=of, noise_sd=one.noise_sd, weights=one.weights
            )

    def completed(self, rows_at_once: int) -> "Iterator[CompletedRows]":
        """Yield the rows that some of these rows may be, in order, about so many at a time."""
        if not len(self.places):
            return
        patterns, counts = np.unique(self.states, axis=0, return_counts=True)
        ends = counts.cumsum().tolist()
        for pattern, count, end in zip(patterns, counts.tolist(), ends, strict=True):
            completion = Completion.of(self.distribution, pattern)
            step = max(1, rows_at_once // completion.size)
            for first in range(end - count, end, step):
                check_cancelled()
                some = slice(first, min(first + step, end))
                rows, weights = completion.rows(self.inputs[some])
                noise_sd = None if self.noise_sd is None else np.repeat(self.noise_sd[some], completion.size)
                inputs = rows.reshape(-1, rows.shape[-1])
                yield CompletedRows(some, inputs, weights, noise_sd, is_sample=completion.donors is not None)


@dataclass(frozen=True, eq=False)
class CompletedRows:
    """The rows that `some` n rows may be, C each: `inputs` (n C, d) and `noise_sd` (n C,), with `weights` (n, C) that
    add to 1. They are a sample of all that a row may be where values are missing, `is_sample`."""

    some: "slice[int, int, None]"
    inputs: Array
    weights: Array
    noise_sd: Array | None
    is_sample: bool

    @property
    def groups(self) -> Groups:
        """The rows that each of the n rows may be."""
        n, size = self.weights.shape
        return Groups(np.arange(n) * size, self.weights.ravel())


def covariance_of(ready: AnyReady, parts: Sequence[CompletedRows]) -> Array:
    """Return the covariances (n, n) of new observations of each two of n rows in `parts`, under Gaussian noise.

    Given what both rows are it is that of `relevance_bayes.core.models.effects`; since they are drawn independently,
    their means are not correlated, and by the law of total covariance it is the average of these. On the diagonal is
    not the variance of an averaged row, to which the variance of its means belongs.
    """
    ends = np.cumsum([len(one.weights) for one in parts]).tolist()
    total = np.empty((ends[-1], ends[-1]))
    for number, one in enumerate(parts):
        for before in range(number + 1):
            check_cancelled()
            other = parts[before]
            both = [one] if before == number else [one, other]
            noise_sd = [part.noise_sd for part in both if part.noise_sd is not None]
            inputs = np.concatenate([part.inputs for part in both])
            _, found = joint(ready, inputs, np.concatenate(noise_sd) if noise_sd else None)
            between = found[: len(one.inputs), -len(other.inputs) :]
            averaged = other.groups.mean(one.groups.mean(between).T).T
            rows = slice(ends[number] - len(one.weights), ends[number])
            columns = slice(ends[before] - len(other.weights), ends[before])
            total[rows, columns], total[columns, rows] = averaged, averaged.T
    return total


@dataclass(frozen=True, eq=False)
class Completion:
    """The rows that a row may be: `added` (C, d) to its columns, with the `weights` (C,), None where no text is
    unknown; and the `donors` of its missing values, None without any."""

    added: Array | None
    weights: Array
    donors: InputDonors | None

    @classmethod
    def of(cls, distribution: InputDistribution, states: Indices) -> Self:
        """Return the completion of rows whose cells have these states (k,)."""
        encoding, missing, unknown = distribution.encoding, states == MISSING, states == UNKNOWN
        donors = distribution.donors(missing, unknown) if missing.any() else None
        names = {one.name for one, is_unknown in zip(encoding.inputs, unknown, strict=True) if is_unknown}
        if not names:
            return cls(None, np.ones(1), donors)
        layout = encoding.layout
        categories = [
            (start, distribution.frequencies[one.name]) for start, one in layout.categories if one.name in names
        ]
        effects = [(start, one.spread) for start, one in layout.effects if one.name in names]
        return cls(*combinations(categories, encoding.width, effects, is_lattice=donors is not None), donors)

    @property
    def size(self) -> int:
        """The number of rows that a row may be."""
        return max(len(self.weights), 0 if self.donors is None else self.donors.size)

    def rows(self, inputs: Array) -> tuple[Array, Array]:
        """Return the rows (n, C, d) that n rows (n, d) may be, and their weights (n, C)."""
        if self.donors is not None:
            return self.donors.completed(inputs, self.added)
        assert self.added is not None
        return inputs[:, None] + self.added, np.tile(self.weights, (len(inputs), 1))


def _too_many(expected: int, got: int) -> str:
    return (
        f"Expected at most {expected:,} rows with missing values or unknown categories, each of which is predicted as "
        f"{ROWS_OF_AVERAGE} rows, got {got:,}; split the request."
    )


def _states(encoding: InputEncoding, block: Block, options: PredictOptions) -> Indices:
    """Return the states (N, k) of the cells of the inputs that are to be averaged."""
    found = []
    for encoded in encoding.inputs:
        column = block[encoded.name]
        states = np.where(gaps(column), MISSING, KNOWN)
        if encoded.indicator or options.nulls == "error":
            states[:] = KNOWN
        if isinstance(encoded, EncodedCategory | EncodedEffects) and options.unknown_categories == "average":
            states[unknown_texts(encoded, column)] = UNKNOWN
        found.append(states)
    return np.column_stack(found)


def _have_donors(distribution: InputDistribution, states: Indices) -> Mask:
    """Return the rows (n,) whose missing values can be drawn."""
    patterns, numbers = np.unique(states, axis=0, return_inverse=True)
    drawn = [
        not (one == MISSING).any() or distribution.donors(one == MISSING, one == UNKNOWN) is not None
        for one in patterns
    ]
    return np.array(drawn, np.bool_)[numbers.ravel()]


def combinations(
    columns: Sequence[tuple[int, Array]],
    width: int,
    effects: Sequence[tuple[int, Array]] = (),
    *,
    is_lattice: bool = False,
) -> tuple[Array, Array]:
    """Return the columns of X (C, width) of the combinations of known categories, and their weights (C,).

    `columns` are the first columns in X and the frequencies (K,) of the categories. All combinations of categories that
    training rows had, each with the product of their frequencies, up to MAX_COMBINATIONS; of more, or where
    `is_lattice`, points of one with equal weights, whose categories have their frequencies in each column up to
    1/MAX_COMBINATIONS.

    `effects` are the first columns in X and the `spread` (J, J) of texts by their effects, whose combinations are such
    points too: normal quantiles of the levels, with the mean 0 and the mean square 1 before they are spread.
    """
    frequencies = [each for _, each in columns]
    kept = [np.flatnonzero(each) for each in frequencies]
    if not (effects or is_lattice) and prod(map(len, kept)) <= MAX_COMBINATIONS:
        chosen = np.array(list(product(*kept)))
        weights = np.prod([each[chosen[:, place]] for place, each in enumerate(frequencies)], axis=0)
    else:
        levels = map(_levels, range(len(columns)))
        chosen = np.array([_quantiles(each, levels_) for each, levels_ in zip(frequencies, levels, strict=True)]).T
        weights = np.full(MAX_COMBINATIONS, 1.0 / MAX_COMBINATIONS)
    added = np.zeros((len(weights), width))
    for place, (start, _) in enumerate(columns):
        added[np.arange(len(chosen)), start + chosen[:, place]] = 1.0
    place = len(columns)
    for start, spread in effects:
        outputs = len(spread)
        normal = np.array([normal_quantiles(_levels(place + output, SHIFT * output)) for output in range(outputs)])
        added[:, start : start + outputs] = normal.T @ spread.T
        place += outputs
    return added, weights


def _levels(place: int, shift: int = 0) -> Array:
    """Return the levels (C,) of a column of the lattice, one in each of C equal parts of (0, 1)."""
    numbers = np.arange(MAX_COMBINATIONS) * pow(GENERATOR, place, MAX_COMBINATIONS) + shift
    return (numbers % MAX_COMBINATIONS + 0.5) / MAX_COMBINATIONS


def _quantiles(frequencies: Array, levels: Array) -> Indices:
    """Return the categories at the levels (C,) of their cumulative frequencies."""
    return np.searchsorted(np.cumsum(frequencies)[:-1], levels, side="right")


def _encoded(encoding: InputEncoding, block: Block, places: Indices, states: Indices) -> Array:
    """Return X (n, d) of the rows, with zeros in the columns of unknown texts and missing values."""
    rows = {
        column.name: with_known(column, taken(block[column.name], places), each != KNOWN)
        for column, each in zip(encoding.inputs, states.T, strict=True)
    }
    inputs, _ = encode_inputs(encoding, rows)
    widths = [column.width for column in encoding.inputs]
    inputs[np.repeat(states != KNOWN, widths, axis=1)] = 0.0
    return inputs


def _listed(
    encoding: InputEncoding, block: Block, states: Indices, places: Indices
) -> tuple[tuple[UnknownCategory, ...], tuple[MissingValue, ...]]:
    """Return the first cells with unknown categories, and the first missing values, of the rows at `places`."""
    unknown, nulls = list[UnknownCategory](), list[MissingValue]()
    for row, place in np.argwhere(states[places] == UNKNOWN)[:MAX_LISTED].tolist():
        name, number = encoding.inputs[place].name, int(places[row])
        column = block[name]
        assert isinstance(column, CategoryArray)
        unknown.append(UnknownCategory(number, name, column.labels[column.codes[number]]))
    for row, place in np.argwhere(states[places] == MISSING)[:MAX_LISTED].tolist():
        nulls.append(MissingValue(int(places[row]), encoding.inputs[place].name))
    return tuple(unknown), tuple(nulls)
