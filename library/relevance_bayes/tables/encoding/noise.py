"""The noise sd of each row, where it is known, in the units of t."""

from collections.abc import Iterator

import numpy as np

from relevance_bayes.core.types import Array
from relevance_bayes.tables.columns import Block, CategoryColumn
from relevance_bayes.tables.encoding.columns import EncodedTarget
from relevance_bayes.tables.encoding.inputs import MAX_SCALED
from relevance_bayes.tables.encoding.raw import real_values
from relevance_bayes.types.errors import Fault


def encode_noise(target: EncodedTarget, block: Block) -> tuple[Array | None, tuple[Fault, ...]]:
    """Return noise sds (N,) of a block's rows, None without the column, and faults, where the sd is NaN.

    A fault is a missing value where other rows have one, a value of 0 or below, or one too far from the targets.
    """
    if target.noise_column is None or target.noise_column not in block:
        return None, ()
    column = block[target.noise_column]
    if isinstance(column, CategoryColumn):
        raise TypeError(f"column {target.noise_column!r}: expected numbers, got texts")
    raw = real_values(column)
    if np.isnan(raw).all():
        return None, ()
    with np.errstate(over="ignore"):
        scaled = raw / target.scale
    sound = (scaled >= 1.0 / MAX_SCALED) & (scaled <= MAX_SCALED)
    faults = () if sound.all() else tuple(_faults(target.noise_column, raw, np.flatnonzero(~sound).tolist()))
    return np.where(sound, scaled, np.nan), faults


def _faults(name: str, raw: Array, rows: list[int]) -> Iterator[Fault]:
    for row in rows:
        sd = raw[row]
        if np.isnan(sd):
            detail = f"`{name}` is missing: expected a value in each row of a table, or in none."
        elif sd <= 0.0:
            detail = f"`{name}` is {sd:g}, expected a noise sd above 0."
        else:
            detail = f"`{name}` is {sd:g}, too far from the sd of the targets for float64."
        yield Fault(detail, row=row, column=name)
