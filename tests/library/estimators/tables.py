"""A table with all kinds of columns, as the libraries that are installed have it."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pyarrow as pa

from relevance_bayes.core.types import Array

ROWS = 60

Cells = dict[str, list[object]]


def cells(rows: int = ROWS) -> Cells:
    """Numbers and texts with a gap each, truth values and days; the order of rows is that of the days."""
    random = np.random.default_rng(1)
    first = datetime(2026, 1, 1, 6, 30, tzinfo=UTC)
    found: Cells = {
        "temperature": [float(one) for one in random.normal(20.0, 6.0, rows).round(1)],
        "weather": [str(one) for one in random.choice(["cloudy", "rain", "sunny"], rows)],
        "holiday": [bool(one) for one in random.random(rows) < 0.2],
        "day": [first + timedelta(days=number) for number in range(rows)],
        "guests": [int(one) for one in random.integers(0, 90, rows)],
    }
    found["temperature"][3], found["weather"][5] = None, None
    return found


def litres(table: Cells) -> Array:
    """The target: a function of the columns with noise."""
    random = np.random.default_rng(2)
    warm = np.array([20.0 if one is None else one for one in table["temperature"]], np.float64)
    sunny = np.array([one == "sunny" for one in table["weather"]])
    holiday = np.array(table["holiday"], np.float64)
    return np.asarray((2.0 * warm + 9.0 * sunny + 4.0 * holiday + random.normal(0.0, 1.0, len(warm))).round(3))


def _of_pandas(table: Cells) -> object:
    frame: object = import_module("pandas").DataFrame(table)
    return frame


def _of_polars(table: Cells) -> object:
    frame: object = import_module("polars").DataFrame(table)
    return frame


MAKERS: Mapping[str, Callable[[Cells], object]] = {
    "pyarrow": pa.table,
    **({"pandas": _of_pandas} if find_spec("pandas") else {}),
    **({"polars": _of_polars} if find_spec("polars") else {}),
}
"""The makers of tables; pandas and polars where they are installed."""
