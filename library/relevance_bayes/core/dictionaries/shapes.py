"""The shapes of functions that are on no row, for people."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """A function of the columns `inputs` of X; lengths are in their units.

    It stands at `location`, one number for each of them, and spreads over `scale`; `frequency` is in cycles per unit of
    each, `phase` in cycles from 0 to 1. What a function does not have is empty or None.
    """

    kind: str
    inputs: tuple[int, ...]
    location: tuple[float, ...] = ()
    scale: float | None = None
    frequency: tuple[float, ...] = ()
    phase: float | None = None
