"""The column with the noise sd of each row, where that is known."""

from relevance_bayes.core.spec import TargetLikelihood
from relevance_bayes.plans.target import unknown_column
from relevance_bayes.tables.summary import TableSummary
from relevance_bayes.types.errors import Fault

POINTER = "/likelihood/noise_sd/column"
"""The place of its name in a request."""


def noise_faults(dataset: TableSummary, likelihood: TargetLikelihood, name: str | None, *, target: str) -> list[Fault]:
    """Return the faults of the noise column of that name; gaps are checked with those of all columns."""
    if likelihood.noise_by_row != (name is not None):
        wrong = "Noise that is known for each row needs the column that holds it, and no other likelihood has one."
        return [Fault(wrong, "/likelihood/noise_sd")]
    if name is None:
        return []
    column = dataset.column(name)
    if column is None:
        wrong = unknown_column(dataset, name)
    elif name == target:
        wrong = f"`{name}` is the target, so it can't also say how far rows scatter."
    elif column.kind != "number":
        wrong = f"`{name}` holds no numbers, so it can't say how far rows scatter."
    elif column.minimum is None:
        wrong = f"`{name}` has no values."
    elif column.minimum <= 0.0:
        wrong = f"`{name}` goes down to {column.minimum:g}, and the sd of a row's noise is above 0."
    else:
        return []
    return [Fault(wrong, POINTER, column=name)]
