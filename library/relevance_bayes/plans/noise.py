"""The column with the noise sd of each row, where that is known."""

from relevance_bayes.core.spec import TargetLikelihood
from relevance_bayes.plans.target import unknown_column
from relevance_bayes.tables.summary import TableSummary
from relevance_bayes.types.errors import Fault

POINTER = "/likelihood/noise_sd/column"
"""The place of its name in a request."""


def noise_faults(dataset: TableSummary, likelihood: TargetLikelihood, name: str | None, *, target: str) -> list[Fault]:
    """Return the faults of the noise column of that name; missing values are checked with those of all columns."""
    if likelihood.noise_by_row != (name is not None):
        wrong = "Known noise of each row requires its column, and other likelihoods must not have one."
        return [Fault(wrong, "/likelihood/noise_sd")]
    if name is None:
        return []
    column = dataset.column(name)
    if column is None:
        wrong = unknown_column(dataset, name)
    elif name == target:
        wrong = f"`{name}` is the target, so it can't be the noise column."
    elif column.kind != "number":
        wrong = f"`{name}` has no numbers, so it can't be the noise column."
    elif column.minimum is None:
        wrong = f"`{name}` has no values."
    elif column.minimum <= 0.0:
        wrong = f"`{name}` goes down to {column.minimum:g}; expected noise sds above 0."
    else:
        return []
    return [Fault(wrong, POINTER, column=name)]
