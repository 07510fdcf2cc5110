"""Predictions of rows with categories that no training row had: the average over the categories that are known.

Which of the known categories such a row is like is not known, so it may be any of them, each with the probability that
it had among the training rows. Its predictive distribution is the mixture of those of the row with each category: the
mean is the weighted mean, and by the law of total variance the interval is wider by the differences between categories.

A text that is encoded by its effect on the target has, where it is unknown, an effect that is normally distributed
about 0, as in the random effects model of `relevance_bayes.tables.encoding.effects`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from statistics import NormalDist
from typing import Self

import numpy as np

from relevance_bayes.core.mixture import Groups, mixture
from relevance_bayes.core.pool import AnyReady
from relevance_bayes.core.prediction import Prediction
from relevance_bayes.core.types import Array, Indices, Mask
from relevance_bayes.tables.columns import Block, CategoryColumn, taken
from relevance_bayes.tables.encoding import EncodedCategory, EncodedEffects, InputEncoding, encode_inputs
from relevance_bayes.tables.encoding.inputs import unknown_texts
from relevance_bayes.tasks.cancellation import check_cancelled
from relevance_bayes.types.baselines import CategoryHistogram, Histogram
from relevance_bayes.types.errors import Fault
from relevance_bayes.types.predictions import UnknownCategory

MAX_COMBINATIONS = 64
"""The most rows that one row is predicted as; text columns are inputs by default up to 50 categories."""

GENERATOR = 19
"""The generator of a Korobov lattice of MAX_COMBINATIONS points: its powers are odd, so that each column's
points are one in each of as many equal parts of (0, 1)."""

SHIFT = 21
"""The shift of the points of each further column of effects, so that no point is at the lower end of all of them."""

MAX_LISTED = 100
"""The most cells that a response lists."""


@dataclass(frozen=True, eq=False)
class AveragedRows:
    """The n rows of a block whose only faults are unknown categories, at `places` (n,) in it.

    `inputs` (n, d) are encoded, with zeros in the columns of an unknown category or effect. `unknown` (n, k) is true
    for the columns of texts with an unknown one; rows with the same ones are consecutive. `frequencies` are those of
    `category_frequencies`.
    """

    encoding: InputEncoding
    frequencies: Mapping[str, Array]
    places: Indices
    inputs: Array
    unknown: Mask
    noise_sd: Array | None
    cells: tuple[UnknownCategory, ...]

    @classmethod
    def of(
        cls,
        encoding: InputEncoding,
        frequencies: Mapping[str, Array],
        block: Block,
        faults: Sequence[Fault],
        noise_sd: Array | None,
    ) -> Self | None:
        """Return the rows of a block with such faults; None without any."""
        columns = _texts(encoding)
        if not columns:
            return None
        unknown = np.column_stack([unknown_texts(column, block[column.name]) for _, column in columns])
        counts = np.bincount([fault.row for fault in faults if fault.row is not None], minlength=len(unknown))
        places = np.flatnonzero((counts > 0) & (unknown.sum(axis=1) == counts))
        if not len(places):
            return None
        cells = _cells(encoding, block, unknown, places[:MAX_LISTED])
        places = places[np.lexsort(unknown[places].T[::-1])]
        return cls(
            encoding,
            frequencies,
            places,
            _encoded(encoding, block, places, unknown[places]),
            unknown[places],
            None if noise_sd is None else noise_sd[places],
            cells,
        )

    def of_rows(self, chosen: Mask) -> Self:
        """Return those that are `chosen` (N,) of the block."""
        kept = chosen[self.places]
        noise_sd = None if self.noise_sd is None else self.noise_sd[kept]
        return replace(
            self,
            places=self.places[kept],
            inputs=self.inputs[kept],
            unknown=self.unknown[kept],
            noise_sd=noise_sd,
        )

    def predictions(self, ready: AnyReady, rows_at_once: int) -> Iterator[tuple[Indices, Prediction, Array | None]]:
        """Yield the places of some rows at a time, in order, with their predictions and supports (n,)."""
        if not len(self.places):
            return
        patterns, counts = np.unique(self.unknown, axis=0, return_counts=True)
        ends = counts.cumsum().tolist()
        for pattern, count, end in zip(patterns, counts.tolist(), ends, strict=True):
            unknown = [_texts(self.encoding)[place] for place in np.flatnonzero(pattern)]
            categories = [(start, self.frequencies[one.name]) for start, one in unknown if one.name in self.frequencies]
            effects = [(start, one.spread) for start, one in unknown if isinstance(one, EncodedEffects)]
            added, weights = combinations(categories, self.encoding.width, effects)
            step = max(1, rows_at_once // len(weights))
            for first in range(end - count, end, step):
                check_cancelled()
                some = slice(first, min(first + step, end))
                yield self.places[some], *self._predicted(ready, some, added, weights)

    def _predicted(
        self, ready: AnyReady, some: "slice[int, int, None]", added: Array, weights: Array
    ) -> tuple[Prediction, Array | None]:
        inputs, n = self.inputs[some], len(weights)
        groups = Groups(np.arange(len(inputs)) * n, np.tile(weights, len(inputs)))
        noise_sd = None if self.noise_sd is None else np.repeat(self.noise_sd[some], n)
        found, support = ready.predict((inputs[:, None] + added).reshape(-1, inputs.shape[1]), noise_sd)
        return mixture(found, groups), None if support is None else groups.mean(support)


def category_frequencies(encoding: InputEncoding, histograms: Sequence[Histogram]) -> dict[str, Array]:
    """Return the frequencies of the categories of each column by its name, which add to 1.

    They are the counts of the histogram of training rows, and rows of categories that it does not list are shared
    equally among these. Without a histogram all categories have the same frequency.
    """
    named = {one.name: one for one in histograms}
    return {column.name: _frequencies(column, named.get(column.name)) for _, column in encoding.layout.categories}


def _frequencies(column: EncodedCategory, histogram: Histogram | None) -> Array:
    counts = np.zeros(len(column.categories))
    if isinstance(histogram, CategoryHistogram):
        listed = {one.label: one.count for one in histogram.categories}
        counts += [listed.get(category, 0) for category in column.categories]
        others = np.array([category not in listed for category in column.categories])
        counts[others] = histogram.other / max(1, others.sum())
    return counts / counts.sum() if counts.any() else np.full(len(counts), 1.0 / len(counts))


def combinations(
    columns: Sequence[tuple[int, Array]], width: int, effects: Sequence[tuple[int, Array]] = ()
) -> tuple[Array, Array]:
    """Return the columns of X (C, width) of the combinations of known categories, and their weights (C,).

    `columns` are the first columns in X and the frequencies (K,) of the categories. All combinations of categories that
    training rows had, each with the product of their frequencies, up to MAX_COMBINATIONS; of more, points of a lattice
    with equal weights, whose categories have their frequencies in each column up to 1/MAX_COMBINATIONS.

    `effects` are the first columns in X and the `spread` (J, J) of texts by their effects, whose combinations are such
    points too: normal quantiles of the levels, with the mean 0 and the mean square 1 before they are spread.
    """
    frequencies = [each for _, each in columns]
    kept = [np.flatnonzero(each) for each in frequencies]
    if not effects and prod(map(len, kept)) <= MAX_COMBINATIONS:
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
        normal = np.array([_normal(_levels(place + output, SHIFT * output)) for output in range(outputs)])
        added[:, start : start + outputs] = normal.T @ spread.T
        place += outputs
    return added, weights


def _levels(place: int, shift: int = 0) -> Array:
    """Return the levels (C,) of a column of the lattice, one in each of C equal parts of (0, 1)."""
    numbers = np.arange(MAX_COMBINATIONS) * pow(GENERATOR, place, MAX_COMBINATIONS) + shift
    return (numbers % MAX_COMBINATIONS + 0.5) / MAX_COMBINATIONS


def _normal(levels: Array) -> Array:
    """Return standard normal numbers (C,) with the mean square 1 at the levels (C,)."""
    found = np.array([*map(NormalDist().inv_cdf, levels.tolist())])
    return np.asarray(found / np.sqrt(np.mean(np.square(found))))


def _quantiles(frequencies: Array, levels: Array) -> Indices:
    """Return the categories at the levels (C,) of their cumulative frequencies."""
    return np.searchsorted(np.cumsum(frequencies)[:-1], levels, side="right")


def _texts(encoding: InputEncoding) -> tuple[tuple[int, EncodedCategory | EncodedEffects], ...]:
    """Return the inputs of texts with their first columns in X: categories, then effects."""
    return (*encoding.layout.categories, *encoding.layout.effects)


def _encoded(encoding: InputEncoding, block: Block, places: Indices, unknown: Mask) -> Array:
    """Return X (n, d) of the rows, with zeros in the columns of an unknown category or effect."""
    rows = {column.name: taken(block[column.name], places) for column in encoding.inputs}
    for (_, encoded), is_unknown in zip(encoding.layout.categories, unknown.T, strict=False):
        column = rows[encoded.name]
        assert isinstance(column, CategoryColumn)
        codes = np.where(is_unknown, len(column.labels), column.codes)
        rows[encoded.name] = CategoryColumn(codes.astype(np.int32), (*column.labels, encoded.categories[0]))
    inputs, _ = encode_inputs(encoding, rows)
    for (start, _), is_unknown in zip(encoding.layout.categories, unknown.T, strict=False):
        inputs[is_unknown, start] = 0.0
    return inputs


def _cells(encoding: InputEncoding, block: Block, unknown: Mask, places: Indices) -> tuple[UnknownCategory, ...]:
    found = list[UnknownCategory]()
    for row, place in np.argwhere(unknown[places]).tolist()[:MAX_LISTED]:
        _, encoded = _texts(encoding)[place]
        column, number = block[encoded.name], int(places[row])
        assert isinstance(column, CategoryColumn)
        found.append(UnknownCategory(number, encoded.name, column.labels[column.codes[number]]))
    return tuple(found)
