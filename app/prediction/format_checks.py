"""The options and outputs that each format can represent."""

from collections.abc import Sequence

from app.formats.format import WritableFormat
from app.tasks.options import PredictOptions
from relevance_bayes.types.errors import Fault, InvalidRequestError


def check_writable(response: WritableFormat, options: PredictOptions, outputs: Sequence[str] | None) -> None:
    """Raise InvalidRequestError for what the format has no room for; `outputs` where some were named."""
    given = {
        "covariance": options.covariance and not response.is_document,
        "explain": options.explain is not None and not response.is_nested,
    }
    faults = [
        Fault(f"An answer in {response.name} has no `{name}`: ask for JSON.", pointer=f"/{name}")
        for name, is_given in given.items()
        if is_given
    ]
    faults += [
        Fault(
            f"An answer in {response.name} holds numbers alone: `probabilities` tell the same.",
            pointer=f"/outputs/{place}",
        )
        for place, output in enumerate(outputs or ())
        if output == "label" and not response.has_texts
    ]
    if faults:
        raise InvalidRequestError(faults[0].detail, faults)
