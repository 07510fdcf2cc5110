"""Raw input columns to the matrix X."""

from collections.abc import Iterator
from typing import Literal

import numpy as np

from relevance_bayes.core.types import Array, Indices, Mask
from relevance_bayes.tables.columns import Block, CategoryColumn, Column, NumberBlock, block_rows
from relevance_bayes.tables.encoding.calendar import calendar_columns
from relevance_bayes.tables.encoding.columns import EncodedCategory, EncodedEffects, InputEncoding, Layout
from relevance_bayes.tables.encoding.raw import quoted, real_values
from relevance_bayes.types.errors import Fault

MAX_SCALED = 1e75
"""The maximum magnitude of an encoded number: divided by a width of 1/MAX_SCALED and squared it is a finite float64."""

FEW_COLUMNS = 8
"""The number of columns up to which reductions run over columns, since a loop over each row's few is slower."""

MAX_CATEGORIES_NAMED = 20


def encode_inputs(encoding: InputEncoding, block: Block) -> tuple[Array, tuple[Fault, ...]]:
    """Return X (N, d) of a block's N rows, and their faults; a row with a fault is NaN in all columns.

    A fault is a category that did not occur in training, a missing value where the model accepts none, or a number too
    far from the training data.
    """
    layout = encoding.layout
    raw = _raw_numbers(layout, block)
    if layout.width == len(layout.numbers):  # only numbers, mostly without a fault
        if len(raw) == 1 and (row := _scaled_row(layout, raw)) is not None:
            return row, ()
        scaled, sound = _scaled(layout, raw)
        if sound.all():
            return scaled, ()
    matrix = np.zeros((len(raw), layout.width))
    faults: list[Fault] = []
    if layout.numbers:
        faults.extend(_put_numbers(layout, raw, matrix))
    for start, encoded in layout.categories:
        faults.extend(_put_category(encoded, block[encoded.name], matrix[:, start : start + encoded.width]))
    for start, effects in layout.effects:
        faults.extend(_put_effects(effects, block[effects.name], matrix[:, start : start + effects.width]))
    if faults:
        faults.sort(key=_row)
        matrix[[_row(fault) for fault in faults]] = np.nan
    return matrix, tuple(faults)


def encode_known(encoding: InputEncoding, block: Block) -> tuple[Array, tuple[Fault, ...]]:
    """Return the same, with a fault also for each text whose effect on the target training could not know."""
    inputs, faults = encode_inputs(encoding, block)
    effects = encoding.layout.effects
    if not effects:
        return inputs, faults
    unknown = [fault for _, each in effects for fault in _effect_faults(each, block[each.name])]
    if not unknown:
        return inputs, faults
    inputs[[_row(fault) for fault in unknown]] = np.nan
    return inputs, tuple(sorted((*faults, *unknown), key=_row))


def _row(fault: Fault) -> int:
    return fault.row if fault.row is not None else -1


def _raw_numbers(layout: Layout, block: Block) -> Array:
    """Return the columns of numbers, (N, k)."""
    if isinstance(block, NumberBlock) and block.names == layout.names:
        return block.matrix
    raw = np.empty((block_rows(block), len(layout.numbers)))
    for place, encoded in enumerate(layout.numbers):
        column = block[encoded.name]
        if isinstance(column, CategoryColumn):
            raise TypeError(f"column {encoded.name!r}: expected {encoded.kind}, got texts")
        raw[:, place] = real_values(column)
    return raw


def _scaled(layout: Layout, raw: Array) -> tuple[Array, Mask]:
    """Return encoded numbers (N, k), and a mask of those within the maximum magnitude."""
    order: Literal["C", "F"] = "F" if raw.shape[1] <= FEW_COLUMNS else "C"
    with np.errstate(over="ignore"):
        scaled = np.subtract(raw, layout.shift, order=order)
        scaled /= layout.scale
    return scaled, np.abs(scaled) <= MAX_SCALED


def _scaled_row(layout: Layout, raw: Array) -> Array | None:
    """Return the same for one row (1, k), bit by bit; None for a fault. Without it 1.17 x the CPU."""
    row = [(value - shift) / scale for value, (shift, scale) in zip(raw[0].tolist(), layout.units, strict=True)]
    return np.array([row]) if all(-MAX_SCALED <= value <= MAX_SCALED for value in row) else None


def _put_numbers(layout: Layout, raw: Array, out: Array) -> list[Fault]:
    missing = np.isnan(raw)
    for place in layout.dates:
        first, periods = layout.places[place] + 1, layout.numbers[place].periods
        out[:, first : first + 2 * len(periods)] = calendar_columns(raw[:, place], periods)
    if missing.any():
        raw = np.where(missing, layout.fill, raw)
    out[:, layout.indicators] = missing[:, layout.indicated]
    scaled, sound = _scaled(layout, raw)
    if not sound.all():
        # The difference of two numbers near 1e308 may overflow where their ratios to the scale do not.
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = np.where(sound, scaled, raw / layout.scale - layout.shift / layout.scale)
            sound = np.abs(scaled) <= MAX_SCALED
    out[:, layout.places] = scaled
    return [] if sound.all() else list(_number_faults(layout, raw, ~sound))


def _number_faults(layout: Layout, raw: Array, unsound: Mask) -> Iterator[Fault]:
    for row, place in np.argwhere(unsound).tolist():
        name, value = layout.numbers[place].name, raw[row, place]
        if np.isnan(value):
            yield _gap_fault(name, row)
        else:
            yield Fault(
                f"`{name}` is {value:g}, too far from the training data to be computed with.", row=row, column=name
            )


def _put_category(encoded: EncodedCategory, column: Column, out: Array) -> list[Fault]:
    if not isinstance(column, CategoryColumn):
        raise TypeError(f"column {encoded.name!r}: expected category, got numbers")
    places = np.array([*(encoded.places.get(label, -1) for label in column.labels), -1])[column.codes]
    rows = np.flatnonzero(places >= 0)
    out[rows, places[rows]] = 1.0
    return list(_category_faults(encoded, column, np.flatnonzero(places < 0), out)) if len(rows) < len(out) else []


def _put_effects(encoded: EncodedEffects, column: Column, out: Array) -> list[Fault]:
    if not isinstance(column, CategoryColumn):
        raise TypeError(f"column {encoded.name!r}: expected category, got numbers")
    outputs, missing = len(encoded.effects), column.codes < 0
    others = (0.0,) * outputs
    table = np.array([*(encoded.table.get(label, others) for label in column.labels), others])
    out[:, :outputs] = table[column.codes]
    if encoded.indicator:
        out[:, -1] = missing
    return [_gap_fault(encoded.name, row) for row in np.flatnonzero(missing).tolist()] if encoded.fill is None else []


def _effect_faults(encoded: EncodedEffects, column: Column) -> Iterator[Fault]:
    for row in np.flatnonzero(unknown_texts(encoded, column)).tolist():
        assert isinstance(column, CategoryColumn)
        label = quoted(column.labels[column.codes[row]])
        yield Fault(f"`{encoded.name}` is {label}, whose effect is unknown.", row=row, column=encoded.name)


def unknown_texts(encoded: EncodedCategory | EncodedEffects, column: Column) -> Mask:
    """Return the rows (N,) of a column with a category, or a text with an effect, that no training row had."""
    assert isinstance(column, CategoryColumn)
    known = encoded.places if isinstance(encoded, EncodedCategory) else encoded.table
    return np.array([*(label not in known for label in column.labels), False])[column.codes]


def _category_faults(encoded: EncodedCategory, column: CategoryColumn, rows: Indices, out: Array) -> Iterator[Fault]:
    """Fill missing values in these rows, where they are accepted; yield a fault for anything else."""
    missing = column.codes[rows] < 0
    if encoded.fill is not None:
        out[rows[missing], : len(encoded.fill)] = encoded.fill
        if encoded.indicator:
            out[rows[missing], -1] = 1.0
        rows = rows[~missing]
    known = _listed(encoded.categories) if len(rows) else ""
    for row in rows.tolist():
        code = column.codes[row]
        if code < 0:
            yield _gap_fault(encoded.name, row)
        else:
            label = quoted(column.labels[code])
            detail = f"`{encoded.name}` is {label}, which did not occur in training; known are {known}."
            yield Fault(detail, row=row, column=encoded.name)


def _gap_fault(name: str, row: int) -> Fault:
    detail = f'`{name}` is missing, which the model accepts only when trained with "missing": "indicator".'
    return Fault(detail, row=row, column=name)


def _listed(categories: tuple[str, ...]) -> str:
    named = ", ".join(quoted(category) for category in categories[:MAX_CATEGORIES_NAMED])
    more = len(categories) - MAX_CATEGORIES_NAMED
    return f"{named} and {more} more" if more > 0 else named
