"""Rows that are left out because of an outlying input."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from relevance_bayes.core.types import Array, Mask
from relevance_bayes.tables.columns import CategoryColumn
from relevance_bayes.tables.encoding import Limits, real_values
from relevance_bayes.tasks.complete_rows import Part

AllLimits: TypeAlias = Mapping[str, Limits]
"""The limits of each input, by name."""

MAX_NAMED = 10
"""The most rows that are reported for an input."""


@dataclass(frozen=True)
class OutlyingInput:
    """An input with outlying values: the number of rows, and the dataset row numbers of the first of them."""

    name: str
    limits: Limits
    count: int
    rows: tuple[int, ...]


def outside(part: Part, limits: AllLimits) -> Mask:
    """Return the mask (N,) of a part's rows with an input outside its limits."""
    found = np.zeros(len(part.numbers), np.bool_)
    for name, one in limits.items():
        found |= one.outside(_numbers(part, name))
    return found


def _numbers(part: Part, name: str) -> Array:
    column = part.block[name]
    if isinstance(column, CategoryColumn):
        raise TypeError(f"column {name!r}: expected numbers, got texts")
    return real_values(column)


def outlying_inputs(parts: Iterable[Part], limits: AllLimits) -> tuple[OutlyingInput, ...]:
    """Return the rows with outlying values, for each input."""
    rows: dict[str, list[int]] = {name: [] for name in limits}
    counts = dict.fromkeys(limits, 0)
    for part in parts:
        for name, one in limits.items():
            found = part.numbers[one.outside(_numbers(part, name))]
            counts[name] += len(found)
            rows[name] += [int(number) for number in found[: MAX_NAMED - len(rows[name])].tolist()]
    return tuple(OutlyingInput(name, one, counts[name], tuple(rows[name])) for name, one in limits.items())
