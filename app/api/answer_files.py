"""What can be told in which format."""

from collections.abc import Sequence

from app.formats.format import WritableFormat
from app.services.answering import Wanted
from relevance_bayes.types.errors import Fault, InvalidRequestError


def check_writable(answer: WritableFormat, wanted: Wanted, outputs: Sequence[str] | None) -> None:
    """Raise InvalidRequestError for what the format has no room for; `outputs` where some were named."""
    said = {
        "covariance": wanted.covariance and not answer.is_document,
        "explain": wanted.explain is not None and not answer.is_nested,
    }
    faults = [
        Fault(f"An answer in {answer.name} has no `{name}`: ask for JSON.", pointer=f"/{name}")
        for name, is_said in said.items()
        if is_said
    ]
    faults += [
        Fault(
            f"An answer in {answer.name} holds numbers alone: `probabilities` tell the same.",
            pointer=f"/outputs/{place}",
        )
        for place, output in enumerate(outputs or ())
        if output == "label" and not answer.has_texts
    ]
    if faults:
        raise InvalidRequestError(faults[0].detail, faults)
