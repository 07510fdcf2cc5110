"""The options of predictions on the command line, and the columns of their output."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from app.tasks.decisions import DecisionOptions
from relevance_bayes.types.errors import Fault, InvalidRequestError


@dataclass(frozen=True)
class PredictOptions:
    """Options of predictions: the probability `interval` in (0, 1) between `lower` and `upper`; whether the
    `covariance` of the answers; of how many functions, `explain`, what they add to each; by what rule to decide
    between classes, `deciding`; and how many `components` of a row."""

    interval: float = 0.95
    covariance: bool = False
    explain: int | None = None
    deciding: DecisionOptions | None = None
    components: int | None = None

    @cached_property
    def is_usual(self) -> bool:
        """Return whether nothing but the interval is said."""
        return self == PredictOptions(self.interval)


def refuse_all(options: PredictOptions, what: str, *, but: Collection[str] = ()) -> None:
    """Raises InvalidRequestError where something is wanted that predictions of another task have."""
    requested = {
        "covariance": options.covariance,
        "explain": options.explain is not None,
        **dict.fromkeys(() if options.deciding is None else options.deciding.given, True),
        "components": options.components is not None,
    }
    names = [name for name, given in requested.items() if given and name not in but]
    faults = [Fault(f"{what} has no `{name}`.", f"/{name}") for name in names]
    if faults:
        raise InvalidRequestError(faults[0].detail, faults)
