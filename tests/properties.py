"""The numbers of examples of a property, where one costs more than a moment."""

from hypothesis import settings

FEW = 25
"""Examples that `make test` draws of a property by default."""
MANY = 100
"""Those of `make thorough`."""
VERY_MANY = 400
"""Those of `make long`."""


def examples(few: int) -> int:
    """Return `few` in `make test`, in `make thorough` and `make long` as many times more as of other properties."""
    return few * settings().max_examples // FEW
