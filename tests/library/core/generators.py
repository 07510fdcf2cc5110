"""Generators of steps, run to their end."""

from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")


def returned(steps: Generator[object, None, T]) -> T:
    """Return the value that a generator returns."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            value: T = end.value
            return value
