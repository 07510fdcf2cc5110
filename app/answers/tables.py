"""Flat columns of predictions as Arrow has them."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from app.answers.columns import FlatColumn, Labels
from app.domain.models import Version
from app.domain.tables import text_of
from app.sparse_bayes.types import Array, Mask


def about(version: Version) -> dict[str, str]:
    """What a file says of the version that answered, where its format has room for it."""
    return {"model": version.model, "version": str(version.number)}


def arrow_table(
    columns: Mapping[str, FlatColumn], faulty: Mask | None, errors: Mapping[int, str] | None, about: Mapping[str, str]
) -> pa.Table:
    """The columns, null in rows that are `faulty` and where there is nothing; `errors` by row as a last column `error`.

    `about` is said beside them.
    """
    arrays = [
        _labels(column, faulty) if isinstance(column, Labels) else _numbers(column, faulty)
        for column in columns.values()
    ]
    names = [*columns]
    if errors is not None:
        rows = len(arrays[0])
        arrays.append(pa.array([errors.get(row) for row in range(rows)], pa.string()))
        names.append("error")
    return pa.Table.from_arrays(arrays, names=names).replace_schema_metadata(dict(about))


def _numbers(values: Array, faulty: Mask | None) -> "pa.Array[pa.DoubleScalar]":
    """NaN is what there is not."""
    if faulty is not None:
        return pa.array(values, pa.float64(), mask=faulty | np.isnan(values))
    missing = np.isnan(values)
    return pa.array(values, pa.float64(), mask=missing) if missing.any() else pa.array(values, pa.float64())


def _labels(labels: Labels, faulty: Mask | None) -> "pa.Array[pa.Scalar[pa.DataType]]":
    places = labels.places if faulty is None else np.where(faulty, -1, labels.places)
    return _classes(labels).take(pa.array(places, pa.int64(), mask=places < 0))


def _classes(labels: Labels) -> "pa.Array[pa.Scalar[pa.DataType]]":
    """In the type that they all have, else as texts."""
    texts = [*map(text_of, labels.classes)]
    kinds = {*map(type, labels.classes)}
    try:
        if kinds == {bool}:
            return pa.array([bool(one) for one in labels.classes], pa.bool_())
        if kinds == {int}:
            return pa.array([int(one) for one in labels.classes], pa.int64())
        if kinds == {float}:
            return pa.array([float(one) for one in labels.classes], pa.float64())
    except (pa.ArrowInvalid, OverflowError):  # whole numbers beyond 64 bits
        pass
    return pa.array(texts, pa.string())
