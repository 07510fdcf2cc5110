"""Refusal of invalid requests."""

from collections.abc import Sequence

from relevance_bayes.types.errors import Fault, InvalidRequestError


def refuse(faults: Sequence[Fault]) -> None:
    """Raise InvalidRequestError with all faults, if there are any."""
    if faults:
        raise InvalidRequestError(f"At {faults[0].pointer}: {faults[0].detail}", faults)
