"""Flat columns of predictions as Arrow tables."""

from typing import TypeAlias

import numpy as np
import pyarrow as pa

from app.formats.flat_table import FlatTable
from relevance_bayes.core.types import Array, Mask
from relevance_bayes.tables.columns import BooleanColumn, CategoryColumn, Column, Labels, NumberColumn, TimestampColumn
from relevance_bayes.tables.formulas import escaped
from relevance_bayes.types.values import text_of

AnyArray: TypeAlias = "pa.Array[pa.Scalar[pa.DataType]]"

ERROR = "error"
"""The column with the errors of rows without a prediction."""


def arrow_table(flat: FlatTable) -> pa.Table:
    """Return the columns as an Arrow table, null in `faulty` rows and where values are missing."""
    arrays: dict[str, AnyArray] = {
        name: raw_array(kept.column, integral=kept.integral) for name, kept in flat.kept.items()
    }
    for name, column in flat.columns.items():
        arrays[name] = _labels(column, flat.faulty) if isinstance(column, Labels) else _numbers(column, flat.faulty)
    if flat.errors is not None:
        rows = len(next(iter(arrays.values())))
        arrays[ERROR] = pa.array([flat.errors.get(row) for row in range(rows)], pa.string())
    return pa.Table.from_arrays([*arrays.values()], names=[*arrays]).replace_schema_metadata(dict(flat.about))


def without_formulas(table: pa.Table) -> pa.Table:
    """Return the table with the texts and the column names as `escaped` writes them."""
    columns: list[AnyArray] = [
        pa.array([None if text is None else escaped(str(text)) for text in column.to_pylist()], pa.string())
        if pa.types.is_string(column.type)
        else column.combine_chunks()
        for column in table.columns
    ]
    names = [escaped(name) for name in table.column_names]
    return pa.Table.from_arrays(columns, names=names).replace_schema_metadata(table.schema.metadata)


def raw_array(column: Column, *, integral: bool) -> AnyArray:
    """Return a column as it was uploaded; numbers as integers where `integral`."""
    match column:
        case CategoryColumn(codes=codes, labels=labels):
            texts = pa.array([*labels], pa.string())
            return texts.take(pa.array(codes, pa.int32(), mask=codes < 0))
        case BooleanColumn(values=flags):
            return pa.array(flags > 0, pa.bool_(), mask=flags < 0)
        case TimestampColumn(values=values):
            missing = np.isnan(values)
            microseconds = np.round(np.where(missing, 0.0, values) * 1e6).astype(np.int64)
            return pa.array(microseconds, pa.timestamp("us", "UTC"), mask=missing)
        case NumberColumn(values=values) if integral:
            missing = np.isnan(values)
            return pa.array(np.where(missing, 0.0, values).astype(np.int64), pa.int64(), mask=missing)
        case NumberColumn(values=values):
            return _numbers(values, None)


def _numbers(values: Array, faulty: Mask | None) -> AnyArray:
    """Return numbers as an array, null for NaN."""
    if faulty is not None:
        return pa.array(values, pa.float64(), mask=faulty | np.isnan(values))
    missing = np.isnan(values)
    return pa.array(values, pa.float64(), mask=missing) if missing.any() else pa.array(values, pa.float64())


def _labels(labels: Labels, faulty: Mask | None) -> AnyArray:
    places = labels.places if faulty is None else np.where(faulty, -1, labels.places)
    return _classes(labels).take(pa.array(places, pa.int64(), mask=places < 0))


def _classes(labels: Labels) -> AnyArray:
    """Return classes in their common type, else as strings."""
    texts = [*map(text_of, labels.classes)]
    kinds = {*map(type, labels.classes)}
    try:
        if kinds == {bool}:
            return pa.array([bool(one) for one in labels.classes], pa.bool_())
        if kinds == {int}:
            return pa.array([int(one) for one in labels.classes], pa.int64())
        if kinds == {float}:
            return pa.array([float(one) for one in labels.classes], pa.float64())
    except (pa.ArrowInvalid, OverflowError):  # integers beyond 64 bits
        pass
    return pa.array(texts, pa.string())
