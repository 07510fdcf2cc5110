"""Raw input columns to the matrix X."""

from collections.abc import Iterator

import numpy as np

from app.domain.encoding.columns import EncodedCategory, EncodedNumber, Encoding
from app.domain.encoding.raw import gaps, real_values
from app.domain.errors import Fault
from app.domain.tables import Block, CategoryColumn, Column, block_rows
from app.sparse_bayes.types import Array, Mask

LARGEST = 1e75
"""Largest size of an encoded number: over a width of 1/LARGEST and squared it is still a float64."""

MOST_CATEGORIES_NAMED = 20


def encode_inputs(encoding: Encoding, block: Block) -> tuple[Array, tuple[Fault, ...]]:
    """X (N, d) of a block's N rows, and what is wrong with them, by row; a row with a fault is NaN throughout.

    A fault is a category that did not occur in training, a gap where the model accepts none, or a number too far from
    the training data.
    """
    matrix = np.zeros((block_rows(block), encoding.width))
    faults: list[Fault] = []
    start = 0
    with np.errstate(over="ignore"):
        for encoded in encoding.inputs:
            out = matrix[:, start : start + encoded.width]
            if isinstance(encoded, EncodedNumber):
                faults.extend(_fill_number(encoded, block[encoded.name], out))
            else:
                faults.extend(_fill_category(encoded, block[encoded.name], out))
            start += encoded.width
    if faults:
        faults.sort(key=_row)
        matrix[[_row(fault) for fault in faults]] = np.nan
    return matrix, tuple(faults)


def _row(fault: Fault) -> int:
    return fault.row if fault.row is not None else -1


def _fill_number(encoded: EncodedNumber, column: Column, out: Array) -> Iterator[Fault]:
    if isinstance(column, CategoryColumn):
        raise TypeError(f"column {encoded.name!r}: expected {encoded.kind}, got texts")
    values = real_values(column)
    missing = np.isnan(values)
    if encoded.fill is not None:
        values = np.where(missing, encoded.fill, values)
        if encoded.indicator:
            out[:, 1] = missing
    scaled = (values - encoded.shift) / encoded.scale
    overflown = np.isinf(scaled)
    if (
        overflown.any()
    ):  # the difference of two numbers near 1e308 may leave the range where their ratio to the scale does not
        scaled = np.where(overflown, values / encoded.scale - encoded.shift / encoded.scale, scaled)
    out[:, 0] = scaled
    if encoded.fill is None:
        yield from _gap_faults(encoded.name, missing)
    for row in np.flatnonzero(np.abs(scaled) > LARGEST).tolist():
        detail = f"`{encoded.name}` is {values[row]:g}, too far from the training data to be computed with"
        yield Fault(detail, row=row, column=encoded.name)


def _fill_category(encoded: EncodedCategory, column: Column, out: Array) -> Iterator[Fault]:
    if not isinstance(column, CategoryColumn):
        raise TypeError(f"column {encoded.name!r}: expected category, got numbers")
    place = {category: number for number, category in enumerate(encoded.categories)}
    places = np.array([place.get(label, -1) for label in column.labels] + [-1])[column.codes]
    known = places >= 0
    out[np.flatnonzero(known), places[known]] = 1.0
    missing = gaps(column)
    if encoded.fill is None:
        yield from _gap_faults(encoded.name, missing)
    elif missing.any():
        out[missing, : len(encoded.fill)] = encoded.fill
        if encoded.indicator:
            out[missing, -1] = 1.0
    for row in np.flatnonzero(~known & ~missing).tolist():
        label = column.labels[column.codes[row]]
        detail = (
            f"`{encoded.name}` is {label!r}, which did not occur in training; known are {_listed(encoded.categories)}"
        )
        yield Fault(detail, row=row, column=encoded.name)


def _gap_faults(name: str, missing: Mask) -> Iterator[Fault]:
    detail = f'`{name}` is missing, which the model accepts only when trained with "missing": "indicator"'
    return (Fault(detail, row=row, column=name) for row in np.flatnonzero(missing).tolist())


def _listed(categories: tuple[str, ...]) -> str:
    named = ", ".join(repr(category) for category in categories[:MOST_CATEGORIES_NAMED])
    more = len(categories) - MOST_CATEGORIES_NAMED
    return f"{named} and {more} more" if more > 0 else named
