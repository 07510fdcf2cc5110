"""Measured seconds as cells of a table."""

from collections.abc import Mapping, Sequence

import numpy as np

Cells = Mapping[str, str]
"""By what was measured."""


def milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:,.0f} ms" if seconds >= 0.01 else f"{1e3 * seconds:.1f} ms"


def typical(seconds: Sequence[float]) -> str:
    """The median."""
    return milliseconds(float(np.median(seconds)))


def typical_and_worst(seconds: Sequence[float]) -> str:
    """The median and the 99th percentile."""
    return f"{typical(seconds)} / {milliseconds(float(np.quantile(seconds, 0.99)))}"


def range_of(seconds: Sequence[float]) -> str:
    """The median, and the greatest."""
    return f"{np.median(seconds):.1f} s (most {max(seconds):.1f} s)"
