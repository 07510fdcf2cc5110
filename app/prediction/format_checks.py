"""The options and outputs that each format can represent."""

from collections.abc import Sequence

from app.formats.format import WritableFormat
from app.tasks.options import PredictOptions
from relevance_bayes.types.errors import Fault, InvalidRequestError


def check_writable(response: WritableFormat, options: PredictOptions, outputs: Sequence[str] | None) -> None:
    """Raise InvalidRequestError for options and `outputs` that the format cannot represent."""
    given = {
        "covariance": options.covariance and not response.is_document,
        "explain": options.explain is not None and not response.is_nested,
    }
    faults = [
        Fault(f"A response in {response.name} has no `{name}`: request JSON.", pointer=f"/{name}")
        for name, is_given in given.items()
        if is_given
    ]
    faults += [
        Fault(
            f"A response in {response.name} has numbers alone: use `probabilities` instead.",
            pointer=f"/outputs/{place}",
        )
        for place, output in enumerate(outputs or ())
        if output == "label" and not response.has_texts
    ]
    if faults:
        raise InvalidRequestError(faults[0].detail, faults)
