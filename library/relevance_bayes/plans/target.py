"""The target of a training: its column, the task, the classes, and the column of the noise sd."""

from dataclasses import dataclass
from difflib import get_close_matches

from relevance_bayes.core.likelihoods import BernoulliPerClass, Categorical, OneAgainstRest, TargetLikelihood
from relevance_bayes.plans.likelihoods import is_for
from relevance_bayes.plans.requests import Task
from relevance_bayes.tables.columns import MAX_CATEGORIES_LISTED, ColumnSummary, TableSummary
from relevance_bayes.tables.encoding.raw import quoted
from relevance_bayes.types.errors import Fault, InvalidRequestError
from relevance_bayes.types.values import Label

MAX_NAMED = 20
"""The maximum number of columns or classes that one sentence lists."""

MAX_COMPARED = 200
"""The maximum number of columns, and length of names, for which the nearest name is suggested."""

NOISE_POINTER = "/likelihood/noise_sd/column"
"""The place of the name of the noise column in a request."""


@dataclass(frozen=True)
class Resolved:
    """A valid target: its column, the task with its reason, and the classes of a classification."""

    column: ColumnSummary
    task: Task
    reason: str
    classes: tuple[Label, ...]


def resolve_target(
    dataset: TableSummary, name: str, requested: Task | None, likelihood: TargetLikelihood | None
) -> Resolved:
    """Return the target's column, and the task as `requested`, else by column and likelihood.

    Raises InvalidRequestError at once, since all else depends on them.
    """
    column = dataset.column(name)
    if column is None:
        raise refusal(Fault(unknown_column(dataset, name), "/target", column=name))
    present = dataset.rows - column.missing
    if present < 2:
        values = f"{present} value{'s' if present != 1 else ''} in {dataset.rows} row{'s' if dataset.rows != 1 else ''}"
        raise _at_target(column, f"The target `{name}` has {values}; at least two are needed.")
    if column.kind == "timestamp":
        raise _at_target(
            column,
            f"The target `{name}` holds points in time, which can't be predicted;"
            " send it as a number (seconds or days since some moment), or choose another target.",
        )
    task, reason = (
        (requested, f"`task` requests {requested}.") if requested is not None else _inferred(column, likelihood)
    )
    if task == "regression":
        _check_regression(column)
        return Resolved(column, task, reason, ())
    chosen = "/likelihood/type" if requested is None and likelihood is not None else "/task"
    return Resolved(column, task, reason, _classes(column, chosen))


def unknown_column(dataset: TableSummary, name: str) -> str:
    """Return the message for an unknown column, with the nearest name or the first ones."""
    names = [column.name for column in dataset.columns]
    comparable = len(names) <= MAX_COMPARED and len(name) <= MAX_COMPARED
    near = get_close_matches(name, names, n=1) if comparable else []
    if near:
        return f"There is no column `{name}`; did you mean `{near[0]}`?"
    return f"There is no column {quoted(name)}; there are {listed([f'`{known}`' for known in names])}."


def listed(texts: list[str]) -> str:
    """Return the texts as an enumeration of at most `MAX_NAMED`."""
    more = len(texts) - MAX_NAMED
    return ", ".join(texts[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def refusal(*faults: Fault) -> InvalidRequestError:
    """Return the error for a request with these faults; its detail is that of the first."""
    more = len(faults) - 1
    return InvalidRequestError(faults[0].detail + (f" ({more} more are listed.)" if more else ""), faults)


def _at_target(column: ColumnSummary, detail: str) -> InvalidRequestError:
    return refusal(Fault(detail, "/target", column=column.name))


def _inferred(column: ColumnSummary, likelihood: TargetLikelihood | None) -> tuple[Task, str]:
    if column.kind == "boolean":
        return "classification", f"`{column.name}` holds true and false, so these two are the classes."
    if column.kind == "category":
        return "classification", f"`{column.name}` holds texts, so these are the classes."
    if likelihood is not None and is_for(likelihood, "regression"):
        return "regression", f'`{column.name}` holds numbers, and "{likelihood.type}" is for quantities.'
    if isinstance(likelihood, Categorical | OneAgainstRest | BernoulliPerClass):
        return "classification", f'`{column.name}` holds numbers, and "{likelihood.type}" is for classes.'
    if column.integral and column.distinct == 2:
        low, high = _number_labels(column)
        reason = f"`{column.name}` holds only the integers {low} and {high}, so these are two classes"
        return "classification", f'{reason}; send "task": "regression" to predict it as a quantity.'
    return "regression", f"`{column.name}` holds numbers, so it is predicted as a quantity."


def _check_regression(column: ColumnSummary) -> None:
    if column.kind != "number":
        what = "true and false" if column.kind == "boolean" else "texts"
        detail = f"`{column.name}` has {what}, which can't be predicted as a quantity; use classification."
        raise refusal(Fault(detail, "/task", column=column.name))
    if column.minimum == column.maximum:
        raise _at_target(
            column, f"Expected two values of the target `{column.name}`, got {column.minimum} in every row."
        )


def _number_labels(column: ColumnSummary) -> tuple[int | float, ...]:
    low, high = column.minimum, column.maximum
    if low is None or high is None:
        raise ValueError(f"column {column.name!r} has values but no range")
    values = (low, high) if column.distinct == 2 else column.values
    return tuple(map(int, values)) if column.integral else values


def _classes(column: ColumnSummary, chosen: str) -> tuple[Label, ...]:
    """Return the labels in order: false and true, numbers ascending, texts by alphabet.

    `chosen` is the pointer to what requests classes where the column alone would not.
    """
    if column.distinct == 1:
        raise _at_target(column, f"The target `{column.name}` has one class only; at least two are needed.")
    if column.distinct is None:
        raise _too_many_classes(column, chosen)
    match column.kind:
        case "boolean":
            return False, True
        case "number":
            labels = _number_labels(column)
            if len(labels) < column.distinct:
                raise _at_target(
                    column,
                    f"The dataset is older than the storage of {column.distinct} distinct numbers of `{column.name}`;"
                    " upload it again to predict them as classes, or use regression.",
                )
            return labels
        case _:
            return tuple(sorted(label for label, _ in column.categories))


def _too_many_classes(column: ColumnSummary, chosen: str) -> InvalidRequestError:
    if column.kind == "number":
        detail = (
            f"`{column.name}` has more than {MAX_CATEGORIES_LISTED} distinct numbers, the maximum number of classes;"
            " use regression."
        )
        return refusal(Fault(detail, chosen, column=column.name))
    classes = listed([quoted(label) for label, _ in column.categories])
    return _at_target(
        column,
        f"The target `{column.name}` has more than {MAX_CATEGORIES_LISTED} classes ({classes}), the maximum:"
        " join some, or keep the rows of the most frequent.",
    )


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
    return [Fault(wrong, NOISE_POINTER, column=name)]
