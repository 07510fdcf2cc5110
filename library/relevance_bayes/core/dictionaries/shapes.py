"""Descriptions of functions that are not centred on rows."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """A function of the columns `inputs` of X; lengths are in their units.

    It is centred at `location`, one number for each of them, with the width `scale`; `frequency` is in cycles per unit
    of each, `phase` in cycles from 0 to 1. Members that a function does not have are empty or None.
    """

    kind: str
    inputs: tuple[int, ...]
    location: tuple[float, ...] = ()
    scale: float | None = None
    frequency: tuple[float, ...] = ()
    phase: float | None = None
