"""The treatment of missing values, which follows from the columns where a request leaves it open."""

from collections.abc import Sequence
from dataclasses import dataclass

from relevance_bayes.plans.inputs import Placed
from relevance_bayes.plans.requests import RandomSplit, SupervisedRequest
from relevance_bayes.plans.target import NOISE_POINTER
from relevance_bayes.tables.columns import ColumnSummary, TableSummary
from relevance_bayes.types.errors import Fault
from relevance_bayes.types.values import Missing

MAX_GAPS_LISTED = 20
MAX_COLUMNS_NAMED = 3


@dataclass(frozen=True)
class MissingTreatment:
    """The treatment of missing values, and the reason for it."""

    treatment: Missing
    reason: str


def resolved_missing(requested: Missing | None, needed: Placed, inputs: Placed) -> MissingTreatment:
    """Return the requested treatment; by default "indicator" where one of the columns has a missing value.

    Rows in which one of `needed` is missing are never trained on. Without a missing value the default is "error": a row
    to predict must have all inputs.
    """
    if requested is not None:
        return MissingTreatment(requested, "The request names it.")
    gaps, absent = ([column for _, column in columns if column.missing] for columns in (inputs, needed))
    reasons = []
    if gaps:
        inputs_with = f"input{'s' if len(gaps) > 1 else ''} {_listed(gaps)} with missing values"
        filled = "the mean, or the shares of its categories, in their place"
        reasons.append(f"{inputs_with}: each has a 0/1 column for them, and {filled}")
    if absent:
        reasons.append(f"rows without {_listed(absent)} are left out")
    if not reasons:
        return MissingTreatment("error", "No column has missing values, so a row to predict needs every input.")
    reason = "; ".join(reasons)
    return MissingTreatment("indicator", f"{reason[0].upper()}{reason[1:]}.")


def required_columns(dataset: TableSummary, request: SupervisedRequest, target: ColumnSummary) -> Placed:
    """Return the columns without which a row can't be trained on: the target, and those of the split and the noise."""
    needed = [("/target", target)]
    if not isinstance(request.split, RandomSplit) and request.split.column is not None:
        splitter = dataset.column(request.split.column)
        needed += [("/split/column", splitter)] if splitter is not None else []
    noise = None if request.noise_column is None else dataset.column(request.noise_column)
    return [*needed, *([(NOISE_POINTER, noise)] if noise is not None else [])]


def gap_faults(dataset: TableSummary, needed: Placed) -> list[Fault]:
    """Return faults for columns with missing values, which are refused."""
    faults = []
    for pointer, column in needed:
        if column.missing:
            gaps = f"{column.missing} missing value{'s' if column.missing > 1 else ''} in {dataset.rows} rows"
            detail = f'`{column.name}` has {gaps}; send "missing": "drop_rows" to leave those rows out, or "indicator"'
            if pointer.startswith("/inputs"):
                detail += " to replace them with the mean and add a 0/1 column."
            else:
                detail += " for inputs: in both cases rows with one here are left out."
            faults.append(Fault(detail, pointer, column=column.name))
    if len(faults) > MAX_GAPS_LISTED:
        more = Fault(f"{len(faults) - MAX_GAPS_LISTED} more columns have missing values.", "/missing")
        return [*faults[:MAX_GAPS_LISTED], more]
    return faults


def _listed(columns: Sequence[ColumnSummary]) -> str:
    """Return `a` (3 rows), `b` (1 row) and 2 more."""
    named = [
        f"`{column.name}` ({column.missing:,} row{'s' if column.missing > 1 else ''})"
        for column in columns[:MAX_COLUMNS_NAMED]
    ]
    more = len(columns) - MAX_COLUMNS_NAMED
    named += [f"{more} more"] if more > 0 else []
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
