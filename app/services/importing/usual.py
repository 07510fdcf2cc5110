"""Rows that any model of data must be able to answer for."""

import numpy as np

from app.domain.encoding import EncodedCategory, EncodedNumber, InputEncoding
from app.domain.tables import Block, BooleanColumn, CategoryColumn, Column, NumberColumn, TimestampColumn

USUAL = (0.0, -1.0, 1.0)
"""These many sds from the mean in every number."""


def usual_rows(encoding: InputEncoding) -> Block:
    """Three rows that are not far from the mean of those that were learned from."""
    return {column.name: _usual(column) for column in encoding.inputs}


def _usual(column: EncodedNumber | EncodedCategory) -> Column:
    if isinstance(column, EncodedCategory):
        codes = np.arange(len(USUAL), dtype=np.int32) % len(column.categories)
        return CategoryColumn(codes.astype(np.int32), column.categories)
    values = column.shift + column.scale * np.array(USUAL)
    match column.kind:
        case "boolean":
            return BooleanColumn(np.array([0, 1, 1], np.int8))
        case "timestamp":
            return TimestampColumn(values)
        case "number":
            return NumberColumn(values)
