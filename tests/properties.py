"""The numbers of examples of a property, where one costs more than a moment."""

from hypothesis import settings

FEW = 25
"""Examples that `make test` draws of a property by default."""
MANY = 100
"""Those of `make thorough`."""


def examples(few: int) -> int:
    """Return `few` in `make test`, MANY / FEW times as many in `make thorough`."""
    return few * settings().max_examples // FEW
