"""The inputs of training rows that a version keeps, from which missing values of other rows are drawn.

Several missing values of a row are those of one training row, given its other values: see
`relevance_bayes.core.imputation`. A version that keeps no rows has independent values of the histograms of its baseline
instead.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from statistics import NormalDist
from typing import Self

import numpy as np

from relevance_bayes.core.folds import content_keys
from relevance_bayes.core.imputation import MIN_DONORS, Donors
from relevance_bayes.core.types import Array, Indices, Mask
from relevance_bayes.records.reports import CategoryHistogram, Histogram, InputCells, NumberHistogram
from relevance_bayes.records.values import Cell
from relevance_bayes.tables.columns import Block, BooleanArray, CategoryArray, Column, NumberArray, TimestampArray
from relevance_bayes.tables.encoding import (
    EncodedCategory,
    EncodedEffects,
    EncodedInput,
    EncodedNumber,
    InputEncoding,
    encode_inputs,
    gaps,
)
from relevance_bayes.tables.kinds import seconds_of
from relevance_bayes.tasks.prediction import ROWS_OF_AVERAGE


def _column(encoded: EncodedInput, cells: Sequence[Cell]) -> Column:
    """Return the column of an input that has these values, of its kind."""
    if not isinstance(encoded, EncodedNumber):
        labels = tuple(dict.fromkeys(str(cell) for cell in cells if cell is not None))
        places = {label: place for place, label in enumerate(labels)}
        codes = [-1 if cell is None else places[str(cell)] for cell in cells]
        return CategoryArray(np.array(codes, np.int32), labels)
    if encoded.kind == "boolean":
        return BooleanArray(np.array([-1 if cell is None else bool(cell) for cell in cells], np.int8))
    numbers = [seconds_of(cell) if isinstance(cell, str) else cell for cell in cells]
    values = np.array([np.nan if one is None else one for one in numbers], np.float64)
    return TimestampArray(values) if encoded.kind == "timestamp" else NumberArray(values)


@dataclass(frozen=True, eq=False)
class InputRows:
    """R rows of encoded inputs (R, d); `present` (R, k) is true where an input has a value.

    Where the rows are `joint`, the values of one row belong together, else they are drawn for each input.
    """

    encoding: InputEncoding
    inputs: Array
    present: Mask
    is_joint: bool

    @classmethod
    def of_kept(cls, encoding: InputEncoding, kept: Sequence[InputCells]) -> Self:
        """Return the rows that a version keeps."""
        cells = {one.name: one.cells for one in kept}
        block = {one.name: _column(one, cells[one.name]) for one in encoding.inputs}
        present = np.column_stack([~gaps(block[one.name]) for one in encoding.inputs])
        inputs, _ = encode_inputs(encoding, _filled(encoding, block))
        valid = np.isfinite(inputs).all(axis=1)
        return cls(encoding, inputs[valid], present[valid], is_joint=True)

    @classmethod
    def of_histograms(cls, encoding: InputEncoding, histograms: Sequence[Histogram]) -> Self:
        """Return rows with the distribution of each input in the histograms, independent of one another.

        Without one, numbers that were standardised are normally distributed, and categories are equally frequent. An
        effect of a text is normally distributed, as that of an unknown one.
        """
        named = {one.name: one for one in histograms}
        inputs, present = (
            np.zeros((ROWS_OF_AVERAGE, encoding.width)),
            np.zeros((ROWS_OF_AVERAGE, len(encoding.inputs)), np.bool_),
        )
        for place, (columns, column) in enumerate(_placed(encoding)):
            drawn = _drawn(column, named.get(column.name), columns.start)
            if drawn is not None:
                inputs[:, columns], present[:, place] = drawn, True
        return cls(encoding, inputs, present, is_joint=False)

    def donors(self, missing: Mask, unknown: Mask) -> "InputDonors | None":
        """Return the donors of the `missing` inputs (k,) of rows whose others are observed, except `unknown` ones (k,).

        None where too few rows have all of these.
        """
        rows = self.present[:, missing].all(axis=1)
        if rows.sum() < MIN_DONORS:
            return None
        widths = [one.width for one in self.encoding.inputs]
        drawn = np.flatnonzero(np.repeat(missing, widths))
        seen = np.flatnonzero(~np.repeat(missing | unknown, widths)) if self.is_joint else np.empty(0, np.intp)
        are_numbers = np.repeat([_is_number(one) for one in self.encoding.inputs], widths)[drawn]
        inputs = self.inputs[rows]
        return InputDonors(drawn, seen, Donors.of(inputs[:, seen], inputs[:, drawn], are_numbers & self.is_joint))


@dataclass(frozen=True, eq=False)
class InputDonors:
    """The donors of the columns `drawn` (m,) of X, by the columns `seen` (o,) of a row."""

    drawn: Indices
    seen: Indices
    donors: Donors

    @property
    def size(self) -> int:
        """The number of donors, R."""
        return len(self.donors.missing)

    def completed(self, inputs: Array, added: Array | None = None) -> tuple[Array, Array]:
        """Return N rows (N, d) with the columns of each of R donors, (N, R, d), and their weights (N, R).

        With `added` (C, d), points of a lattice that are added to a row, there are as many donors, each as often as
        the others up to one, and each with a point of its own.
        """
        values, weights = self.donors.at(inputs[:, self.seen])
        donors = weights.shape[1]
        if added is None:
            rows = np.repeat(inputs[:, None], donors, axis=1)
        else:
            numbers = np.arange(max(len(added), donors))
            chosen = numbers % donors
            values, weights = values[:, chosen], weights[:, chosen] / np.bincount(chosen)[chosen]
            rows = inputs[:, None] + added[numbers % len(added)]
        rows[:, :, self.drawn] = values
        return rows, weights


def _is_number(encoded: EncodedInput) -> bool:
    return isinstance(encoded, EncodedNumber) and encoded.kind == "number"


def _placed(encoding: InputEncoding) -> "list[tuple[slice[int, int, None], EncodedInput]]":
    """Return the inputs with their columns in X."""
    starts = accumulate((one.width for one in encoding.inputs), initial=0)
    return [(slice(start, start + one.width), one) for start, one in zip(starts, encoding.inputs, strict=False)]


def _filled(encoding: InputEncoding, block: Block) -> Block:
    """Return a block with a known value in the place of each missing one that has no fill."""
    return {
        one.name: block[one.name] if one.fill is not None else with_known(one, block[one.name], gaps(block[one.name]))
        for one in encoding.inputs
    }


def with_known(encoded: EncodedInput, column: Column, rows: Mask) -> Column:
    """Return a column with some known value in the `rows` (N,)."""
    if isinstance(column, CategoryArray):
        codes = np.where(rows, len(column.labels), column.codes)
        known = () if isinstance(encoded, EncodedNumber) else encoded.categories[:1]
        return CategoryArray(codes.astype(np.int32), (*column.labels, *(known or ("",))))
    if isinstance(column, BooleanArray):
        return BooleanArray(np.where(rows, 0, column.values).astype(np.int8))
    assert isinstance(encoded, EncodedNumber)
    values = np.where(rows, encoded.decode(np.zeros(1))[0], column.values)
    return TimestampArray(values) if isinstance(column, TimestampArray) else NumberArray(values)


def _drawn(column: EncodedInput, histogram: Histogram | None, place: int) -> Array | None:
    """Return R = ROWS_OF_AVERAGE values of an input as its columns of X (R, width), None where nothing is known of its
    distribution."""
    levels = _levels(place)
    block: dict[str, Column]
    match column, histogram:
        case EncodedEffects(), _:
            normal = np.array([normal_quantiles(_levels(place + output)) for output in range(len(column.effects))])
            effects = normal.T @ column.spread.T
            return np.column_stack([effects, np.zeros((ROWS_OF_AVERAGE, column.width - effects.shape[1]))])
        case EncodedCategory(), _:
            chosen = np.searchsorted(np.cumsum(frequencies_of(column, histogram))[:-1], levels, side="right")
            block = {column.name: CategoryArray(chosen.astype(np.int32), column.categories)}
        case EncodedNumber(kind="boolean"), CategoryHistogram(categories=flags) if flags:
            counts = np.array([flag.count for flag in flags], np.float64)
            reached = np.searchsorted(np.cumsum(counts / max(1.0, counts.sum()))[:-1], levels, side="right")
            block = {column.name: BooleanArray(np.array([flags[k].label == "true" for k in reached]).astype(np.int8))}
        case EncodedNumber(kind=kind), NumberHistogram(min=float() | int()):
            values = _of_histogram(histogram, levels)
            block = {column.name: TimestampArray(values) if kind == "timestamp" else NumberArray(values)}
        case EncodedNumber(kind=kind), _ if (column.shift, column.scale) != (0.0, 1.0) and kind != "boolean":
            values = column.decode(normal_quantiles(levels))
            block = {column.name: TimestampArray(values) if kind == "timestamp" else NumberArray(values)}
        case _:
            return None
    found, faults = encode_inputs(InputEncoding((column,)), block)
    return None if faults else found


def _of_histogram(histogram: NumberHistogram, levels: Array) -> Array:
    """Return the quantiles (C,) of a histogram at the levels (C,), with values evenly distributed within each bin."""
    bounds = np.array([histogram.min, *histogram.edges, histogram.max], np.float64)
    counts = np.array(histogram.counts, np.float64)
    reached = np.concatenate([[0.0], np.cumsum(counts)]) / max(1.0, counts.sum())
    return np.interp(levels, reached, np.maximum.accumulate(bounds))


def frequencies_of(column: EncodedCategory, histogram: Histogram | None) -> Array:
    """Return the frequencies (K,) of a column's categories, by the histogram of training rows."""
    counts = np.zeros(len(column.categories))
    if isinstance(histogram, CategoryHistogram):
        listed = {one.label: one.count for one in histogram.categories}
        counts += [listed.get(category, 0) for category in column.categories]
        others = np.array([category not in listed for category in column.categories])
        counts[others] = histogram.other / max(1, others.sum())
    return counts / counts.sum() if counts.any() else np.full(len(counts), 1.0 / max(1, len(counts)))


def _levels(place: int) -> Array:
    """Return levels (R,), one in each of as many equal parts of (0, 1), in an order drawn for each column."""
    order = np.argsort(content_keys(np.arange(float(ROWS_OF_AVERAGE))[:, None], place), kind="stable")
    return (order + 0.5) / ROWS_OF_AVERAGE


def normal_quantiles(levels: Array) -> Array:
    """Return standard normal numbers (C,) with the mean square 1 at the levels (C,)."""
    found = np.array([*map(NormalDist().inv_cdf, levels.tolist())])
    return np.asarray(found / np.sqrt(np.mean(np.square(found))))


@dataclass(frozen=True, eq=False)
class InputDistribution:
    """The distribution of the inputs of training rows: the rows that a version keeps, and histograms."""

    encoding: InputEncoding
    kept: tuple[InputCells, ...] | None
    histograms: tuple[Histogram, ...]

    @cached_property
    def frequencies(self) -> Mapping[str, Array]:
        """The frequencies of the categories of each column by its name, which add to 1.

        They are the counts of the histogram of training rows, and rows of categories that it does not list are shared
        equally among these. Without a histogram all categories have the same frequency.
        """
        named = {one.name: one for one in self.histograms}
        columns = (column for _, column in self.encoding.layout.categories)
        return {column.name: frequencies_of(column, named.get(column.name)) for column in columns}

    def donors(self, missing: Mask, unknown: Mask) -> InputDonors | None:
        """Return the donors of the `missing` inputs (k,), with others that are `unknown` (k,); None without any."""
        found = None if self._rows is None else self._rows.donors(missing, unknown)
        return self._independent.donors(missing, unknown) if found is None else found

    @cached_property
    def _rows(self) -> InputRows | None:
        return InputRows.of_kept(self.encoding, self.kept) if self.kept else None

    @cached_property
    def _independent(self) -> InputRows:
        return InputRows.of_histograms(self.encoding, self.histograms)
