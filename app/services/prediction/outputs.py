"""The members that predictions can have, and those that were asked for."""

from collections.abc import Mapping, Sequence

from app.domain.models import Version
from relevance_bayes.types.errors import Fault, InvalidRequestError

_VALUE = ("value",)

OUTPUTS: Mapping[str, tuple[str, ...]] = {
    "regression": ("mean", "sd", "variance", "interval", "support"),
    "classification": ("label", "probabilities", "latent", "support"),
    "approximation": _VALUE,
    "image": _VALUE,
    "components": ("components", "reconstruction_error", "log_density", "novelty"),
}
"""By task."""


def outputs_of(version: Version) -> tuple[str, ...]:
    """The members that this version's predictions can have."""
    return OUTPUTS[version.report.task]


def outputs_asked(version: Version, asked: Sequence[str] | None) -> tuple[str, ...]:
    """The members that predictions are to have, all where none were `asked` for, in the order asked.

    Raises InvalidRequestError for those that they can't have.
    """
    possible = outputs_of(version)
    if asked is None:
        return possible
    faults = [
        Fault(f"A model of {version.report.task} answers {', '.join(possible)}.", pointer=f"/outputs/{place}")
        for place, output in enumerate(asked)
        if output not in possible
    ]
    if faults:
        raise InvalidRequestError("This model's predictions don't have such an output.", faults)
    return tuple(dict.fromkeys(asked))
