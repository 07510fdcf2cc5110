"""The input columns of a model, and the columns left out with the reasons."""

import math
from collections.abc import Sequence

from relevance_bayes.plans.requests import GroupSplit, IgnoredColumn, InputColumn, RandomSplit, Split
from relevance_bayes.plans.target import unknown_column
from relevance_bayes.tables.columns import MAX_CATEGORIES_LISTED, ColumnSummary, TableSummary
from relevance_bayes.tables.encoding.inputs import MAX_SCALED
from relevance_bayes.types.errors import Fault

MIN_ROWS_FOR_IDS = 20
"""The minimum number of rows from which a column of distinct values is taken for an id, not a measurement."""

MAX_FAULTS_REPORTED = 20
"""The maximum number of invalid inputs that are reported."""

AT_RANDOM = RandomSplit()

Placed = Sequence[tuple[str, ColumnSummary]]
"""Columns, each with the pointer to its place in the request."""


def chosen_inputs(
    dataset: TableSummary,
    requested: tuple[str, ...] | None,
    *,
    target: str | None = None,
    split: Split = AT_RANDOM,
    noise: str | None = None,
    has_effects: bool = False,
) -> tuple[tuple[ColumnSummary, ...], tuple[IgnoredColumn, ...], tuple[Fault, ...]]:
    """Return the input columns, those left out with the reasons, and the faults of the requested ones.

    The column `target` is predicted from them, where there is one; the column `noise` has the noise sd of each row.
    Texts of many values are inputs where they are encoded by their effects on the target.
    """
    if requested is not None:
        return _named(dataset, requested, target=target, split=split, noise=noise, has_effects=has_effects)
    uses = {} if noise is None else {noise: "it has the noise of each row"}
    if not isinstance(split, RandomSplit) and split.column is not None:
        use = "keep groups apart" if isinstance(split, GroupSplit) else "order the rows"
        uses.setdefault(split.column, f"it is used to {use}")
    reasons = [
        (column, uses.get(column.name) or _unfit(column, dataset.rows, has_effects=has_effects))
        for column in dataset.columns
        if column.name != target
    ]
    inputs = tuple(column for column, reason in reasons if reason is None)
    ignored = tuple(IgnoredColumn(column.name, reason) for column, reason in reasons if reason is not None)
    if inputs:
        return inputs, ignored, ()
    why = "; ".join(f"`{column.name}`: {column.reason}" for column in ignored[:5]) or "there is no other column"
    use = "learn" if target is None else f"predict `{target}`"
    detail = f"No column is left to {use} from ({why}); set `inputs` to use some of them."
    return (), ignored, (Fault(detail, "/inputs"),)


def input_column(column: ColumnSummary) -> InputColumn:
    """Return a plan's input: its name, its kind, and its categories by alphabet, none of a text of many values."""
    categories = () if _has_many_texts(column) else tuple(sorted(label for label, _ in column.categories))
    return InputColumn(column.name, column.kind, categories)


def placed(columns: Sequence[ColumnSummary], requested: tuple[str, ...] | None) -> Placed:
    """Return inputs with the pointers to their places in the request."""
    places = {name: f"/inputs/{number}" for number, name in enumerate(requested or ())}
    return [(places.get(column.name, "/inputs"), column) for column in columns]


def scale_faults(inputs: Placed, *, named: bool, standardise: bool) -> list[Fault]:
    """Return faults for constant inputs that can't be standardised, if they were requested (otherwise they are left
    out), or numbers that are not standardised and too large."""
    if standardise:
        return [
            Fault(
                f"`{column.name}` is the same in every row, so it can't be standardised; leave it out.",
                pointer,
                column=column.name,
            )
            for pointer, column in inputs
            if named and is_constant(column)
        ]
    return [
        Fault(
            f"`{column.name}` reaches {size(column):g}, too large to be used as it is; standardise the inputs.",
            pointer,
            column=column.name,
        )
        for pointer, column in inputs
        if size(column) > MAX_SCALED
    ]


def size(column: ColumnSummary) -> float:
    """Return the greatest magnitude of its values."""
    return max(abs(column.minimum or 0.0), abs(column.maximum or 0.0))


def is_constant(column: ColumnSummary) -> bool:
    """Return whether all present values are equal."""
    return column.distinct == 1 or (column.minimum is not None and column.minimum == column.maximum)


def _named(
    dataset: TableSummary,
    requested: tuple[str, ...],
    *,
    target: str | None,
    split: Split,
    noise: str | None,
    has_effects: bool,
) -> tuple[tuple[ColumnSummary, ...], tuple[IgnoredColumn, ...], tuple[Fault, ...]]:
    inputs: list[ColumnSummary] = []
    faults = (
        []
        if requested
        else [Fault("`inputs` is empty; name a column, or leave it out to use all that fit.", "/inputs")]
    )
    known = {column.name: column for column in dataset.columns}
    seen: set[str] = set()
    for number, name in enumerate(requested):
        if len(faults) == MAX_FAULTS_REPORTED:
            break
        column = known.get(name)
        wrong = (
            unknown_column(dataset, name)
            if column is None
            else _misuse(column, dataset.rows, target=target, has_effects=has_effects)
        )
        if name in seen:
            wrong = f"`{name}` is named twice."
        elif name == noise:
            wrong = f"`{name}` has the noise of each row (`likelihood`), so it can't be an input."
        elif isinstance(split, GroupSplit) and name == split.column:
            wrong = f"`{name}` keeps groups of rows apart (`split`), so it can't be an input: new rows have new groups."
        if wrong is not None:
            faults.append(Fault(wrong, f"/inputs/{number}", column=name))
        elif column is not None:
            inputs.append(column)
        seen.add(name)
    return tuple(inputs), (), tuple(faults)


def _misuse(column: ColumnSummary, rows: int, *, target: str | None, has_effects: bool) -> str | None:
    """Return why a column can't be an input even when it is requested, None if it can."""
    if column.name == target:
        return f"`{target}` is the target, so it can't be an input."
    if column.missing == rows:
        return f"`{column.name}` has no values."
    if column.kind == "category" and _has_many_texts(column) and not has_effects:
        return f"`{column.name}` has more than {MAX_CATEGORIES_LISTED} distinct texts; group them, or leave it out."
    return None


def _unfit(column: ColumnSummary, rows: int, *, has_effects: bool) -> str | None:
    """Return why a column is not an input unless it is requested, None if it is."""
    if column.missing == rows:
        return "it has no values"
    if is_constant(column):
        return "it is the same in every row"
    if column.kind == "category":
        if rows >= MIN_ROWS_FOR_IDS and column.distinct == rows:
            return "it looks like an id: a distinct text in every row"
        if _has_many_texts(column) and not has_effects:
            return f"it has more than {MAX_CATEGORIES_LISTED} distinct texts"
    if column.kind == "number" and rows >= MIN_ROWS_FOR_IDS and _is_row_number(column, rows):
        return "it looks like an id: consecutive integers, one for each row"
    return None


def _has_many_texts(column: ColumnSummary) -> bool:
    return column.distinct is None or column.distinct > MAX_CATEGORIES_LISTED


def _is_row_number(column: ColumnSummary, rows: int) -> bool:
    """Return whether a column permutes n consecutive integers, by its range, mean and sd."""
    if column.missing or not column.integral or column.distinct not in {None, rows}:
        return False
    if column.minimum is None or column.maximum is None or column.mean is None or column.sd is None:
        return False
    middle, spread = (column.minimum + column.maximum) / 2, math.sqrt((rows**2 - 1) / 12)
    return (
        column.maximum - column.minimum + 1 == rows
        and math.isclose(column.mean, middle, rel_tol=1e-9, abs_tol=1e-6)
        and math.isclose(column.sd, spread, rel_tol=1e-6)
    )
