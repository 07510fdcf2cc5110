"""The outputs of predictions, possible and requested."""

from collections.abc import Sequence

from app.registry.records import Version
from app.tasks.union import task_of
from relevance_bayes.types.errors import Fault, InvalidRequestError


def outputs_of(version: Version) -> tuple[str, ...]:
    """Return the outputs that this version's predictions can have."""
    return task_of(version.report).outputs(version.report)


def requested_outputs(version: Version, requested: Sequence[str] | None) -> tuple[str, ...]:
    """The members that predictions are to have, all where none were `requested`, in the order of the request.

    Raises InvalidRequestError for those that they can't have.
    """
    possible = outputs_of(version)
    if requested is None:
        return possible
    faults = [
        Fault(f"A model of {version.report.task} answers {', '.join(possible)}.", pointer=f"/outputs/{place}")
        for place, output in enumerate(requested)
        if output not in possible
    ]
    if faults:
        raise InvalidRequestError("This model's predictions don't have such an output.", faults)
    return tuple(dict.fromkeys(requested))
