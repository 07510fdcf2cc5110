"""Residuals in bins: against the prediction, and against each input, as they are in the dataset."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log10

import numpy as np
from numpy.typing import NDArray

from relevance_bayes.core.types import Array, Indices
from relevance_bayes.tables.columns import (
    Block,
    BooleanColumn,
    CategoryColumn,
    Column,
    NumberColumn,
    TimestampColumn,
)
from relevance_bayes.tables.encoding import EncodedCategory, EncodedNumber, InputEncoding
from relevance_bayes.tables.histograms import FLAGS, MAX_CATEGORIES, quantile_edges
from relevance_bayes.types.diagnostics import (
    CategoryResidual,
    CategoryResiduals,
    InputResiduals,
    NumberResiduals,
    ResidualStatistics,
)

MAX_ROWS = 20_000
"""The number of rows, evenly spaced, beyond which others are left out."""

MAX_BINS, MAX_INPUT_BINS = 32, 16
"""The number of bins of the prediction and of an input."""

DIGITS = 14
"""The decimal digits to which inputs are decoded."""

MAX_INPUTS = 64
"""The number of inputs, the first of a version."""


@dataclass(frozen=True, eq=False)
class RowResiduals:
    """The residuals (N,) of some rows, and the `predictions` (N,) called `name` that they belong to."""

    name: str
    predictions: Array
    residuals: Array

    def against_prediction(self) -> NumberResiduals:
        """Return the residuals by prediction."""
        return _by_number(self.name, self.predictions, self.residuals, MAX_BINS)

    def against(self, names: Sequence[str], block: Block) -> tuple[InputResiduals, ...]:
        """Return the residuals by input, whose columns (N,) are in the block."""
        return tuple(_by_input(name, block[name], self.residuals) for name in names[:MAX_INPUTS])


def thinned(rows: Indices) -> Indices:
    """Return at most MAX_ROWS of the rows (N,), evenly spaced."""
    return rows if len(rows) <= MAX_ROWS else rows[np.arange(MAX_ROWS) * len(rows) // MAX_ROWS]


def decoded(encoding: InputEncoding, rows: Array, names: Sequence[str]) -> Block:
    """Return the columns of the inputs `names` from their encoded `rows` (N, d): the inverse of `encode_inputs`, which
    texts that are encoded by their effects have not."""
    block: dict[str, Column] = {}
    first = 0
    for column in encoding.inputs:
        columns, first = rows[:, first : first + column.width], first + column.width
        if column.name not in names:
            continue
        missing = columns[:, -1] > 0.5 if column.indicator else np.zeros(len(rows), np.bool_)
        if isinstance(column, EncodedNumber):
            values = np.where(missing, np.nan, columns[:, 0] * column.scale + column.shift)
            block[column.name] = _numbers(column, _rounded(values))
        elif isinstance(column, EncodedCategory):
            codes = columns[:, : len(column.categories)].argmax(axis=1) if column.categories else np.zeros(len(rows))
            block[column.name] = CategoryColumn(np.where(missing, -1, codes).astype(np.int32), column.categories)
    return block


def _rounded(values: Array) -> Array:
    """Return values (N,) without the rounding of their encoding: at DIGITS of the greatest, of usual sizes."""
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    return np.round(values, DIGITS - ceil(log10(largest))) if 1e-6 < largest < 1e12 else values


def _numbers(column: EncodedNumber, values: Array) -> Column:
    match column.kind:
        case "boolean":
            return BooleanColumn(np.where(np.isnan(values), -1.0, np.rint(values)).astype(np.int8))
        case "timestamp":
            return TimestampColumn(values)
        case "number":
            return NumberColumn(values)


def _by_input(name: str, column: Column, residuals: Array) -> InputResiduals:
    match column:
        case CategoryColumn(codes=codes, labels=labels):
            return _by_category(name, codes, labels, residuals)
        case BooleanColumn(values=flags):
            found = _statistics(np.where(flags < 0, len(FLAGS), flags).astype(np.intp), residuals, len(FLAGS) + 1)
            listed = tuple(CategoryResidual(label, **vars(one)) for label, one in zip(FLAGS, found, strict=False))
            return CategoryResiduals(
                name=name, kind="boolean", missing=_present(found[-1]), categories=listed, other=None
            )
        case TimestampColumn(values=values):
            return _by_number(name, values, residuals, MAX_INPUT_BINS, is_timestamp=True)
        case NumberColumn(values=values):
            return _by_number(name, values, residuals, MAX_INPUT_BINS)


def _by_number(
    name: str, values: Array, residuals: Array, max_bins: int, *, is_timestamp: bool = False
) -> NumberResiduals:
    missing = np.isnan(values)
    present = np.sort(values[~missing])
    edges = quantile_edges(present, max_bins) if len(present) else present
    if len(present) and edges[-1] >= present[-1]:
        edges = edges[:-1]
    bins = len(edges) + 1 if len(present) else 0
    *found, lost = _statistics(np.where(missing, bins, np.searchsorted(edges, values)), residuals, bins + 1)
    return NumberResiduals(
        name=name,
        kind="timestamp" if is_timestamp else "number",
        missing=_present(lost),
        min=float(present[0]) if len(present) else None,
        max=float(present[-1]) if len(present) else None,
        edges=tuple(edges.tolist()),
        bins=tuple(found),
    )


def _by_category(name: str, codes: NDArray[np.int32], labels: Sequence[str], residuals: Array) -> CategoryResiduals:
    counts = np.bincount(codes[codes >= 0], minlength=len(labels)).tolist()
    frequent = sorted((place for place, n in enumerate(counts) if n), key=lambda place: (-counts[place], labels[place]))
    listed = frequent[:MAX_CATEGORIES]
    places = np.full(len(labels) + 1, len(listed), np.intp)
    places[listed], places[-1] = np.arange(len(listed)), len(listed) + 1
    *found, other, missing = _statistics(places[codes], residuals, len(listed) + 2)
    return CategoryResiduals(
        name=name,
        kind="category",
        missing=_present(missing),
        categories=tuple(
            CategoryResidual(labels[place], **vars(one)) for place, one in zip(listed, found, strict=True)
        ),
        other=_present(other),
    )


def _statistics(places: Indices, residuals: Array, bins: int) -> list[ResidualStatistics]:
    """Return the statistics of the residuals (N,) in each bin; 0 without rows."""
    unit = float(np.abs(residuals).max(initial=0.0)) or 1.0
    scaled = residuals / unit
    counts = np.bincount(places, minlength=bins)
    rows = np.maximum(counts, 1)
    mean = np.bincount(places, scaled, minlength=bins) / rows
    sd = np.sqrt(np.bincount(places, np.square(scaled - mean[places]), minlength=bins) / rows)
    pairs = zip(counts.tolist(), (mean * unit).tolist(), (sd * unit).tolist(), strict=True)
    return [ResidualStatistics(*one) for one in pairs]


def _present(found: ResidualStatistics) -> ResidualStatistics | None:
    return found if found.rows else None
