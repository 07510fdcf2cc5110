"""The numbers of examples of a property, of requests and of draws; `make long` has more of each."""

import os

from hypothesis import settings

FEW = 25
"""Examples that `make test` draws of a property by default."""
MANY = 100
"""Those of `make thorough`."""
VERY_MANY = 400
"""Those of `make long`."""


IS_LONG = os.environ.get("RELEVANCE_LONG") == "1"


def repetitions(number: int, *, long: int) -> int:
    """Return a number of requests or draws, that of `make long` where it runs."""
    return long if IS_LONG else number


def examples(few: int) -> int:
    """Return `few` in `make test`, in `make thorough` and `make long` as many times more as of other properties."""
    return few * settings().max_examples // FEW
