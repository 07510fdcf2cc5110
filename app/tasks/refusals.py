"""Refusal of invalid requests."""

from collections.abc import Sequence

from relevance_bayes.types.errors import Fault, InvalidRequestError


def refuse(faults: Sequence[Fault]) -> None:
    """Raises InvalidRequestError where there are any, with all of them."""
    if faults:
        raise InvalidRequestError(f"At {faults[0].pointer}: {faults[0].detail}", faults)
