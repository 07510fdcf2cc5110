"""The options of predictions, and the refusal of invalid ones."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.records.predictions import DecisionOptions, Nulls, UnknownCategories

ROWS_OF_AVERAGE = 64
"""The most rows that a row with missing values or unknown categories is predicted as: the training rows that a version
keeps, draws of each input, or combinations of categories."""


def cost_in_rows(rows: int, averaged: int) -> int:
    """Return the number of rows that predictions count as, of which some are `averaged` over other rows."""
    return rows + (ROWS_OF_AVERAGE - 1) * averaged


def refuse(faults: Sequence[Fault]) -> None:
    """Raise InvalidRequestError with all faults, if there are any."""
    if faults:
        raise InvalidRequestError(f"At {faults[0].pointer}: {faults[0].detail}", faults)


@dataclass(frozen=True)
class PredictOptions:
    """Options of predictions: the probability of the `interval`, in (0, 1); whether the `covariance` of the rows is
    returned; the number of functions in each explanation, `explain`; the decision rule between classes, `deciding`; the
    number of `components` of a row; and the treatment of `unknown_categories` and of missing values, `nulls`. The rows
    in `unread` have cells that could not be read, which are gaps in the block: they are not averaged over. At most
    `max_averaged` rows are averages, each of which costs up to ROWS_OF_AVERAGE rows; None: any number."""

    interval: float = 0.95
    covariance: bool = False
    explain: int | None = None
    deciding: DecisionOptions | None = None
    components: int | None = None
    unknown_categories: UnknownCategories = "average"
    nulls: Nulls = "average"
    unread: frozenset[int] = frozenset()
    max_averaged: int | None = None

    @cached_property
    def is_usual(self) -> bool:
        """Return whether only the interval is given."""
        return self == PredictOptions(self.interval, max_averaged=self.max_averaged)


def refuse_all(options: PredictOptions, what: str, *, but: Collection[str] = ()) -> None:
    """Raise InvalidRequestError for options that this kind of model does not have, except those in `but`."""
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
