"""What can be told in which format."""

from collections.abc import Sequence

from app.api.negotiation import RowFormat
from app.domain.errors import Fault, InvalidRequestError
from app.services.answering import Wanted

FLAT: frozenset[RowFormat] = frozenset({"csv", "arrow", "parquet", "npy"})


def check_writable(answer: RowFormat, wanted: Wanted, outputs: Sequence[str] | None) -> None:
    """Raise InvalidRequestError for what can be told in JSON alone; `outputs` where some were named."""
    said = {"covariance": wanted.covariance, "explain": wanted.explain is not None and answer in FLAT}
    faults = [
        Fault(f"An answer in {answer} has no `{name}`: ask for JSON.", pointer=f"/{name}")
        for name, is_said in said.items()
        if is_said
    ]
    faults += [
        Fault("An answer in npy holds numbers alone: `probabilities` tell the same.", pointer=f"/outputs/{place}")
        for place, output in enumerate(outputs or ())
        if answer == "npy" and output == "label"
    ]
    if faults:
        raise InvalidRequestError(faults[0].detail, faults)
