"""The input columns of a model, the columns left out with the reasons, and the treatment of missing values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from relevance_bayes.plans.requests import GroupSplit, IgnoredColumn, InputColumn, RandomSplit, Split, SupervisedRequest
from relevance_bayes.plans.target import NOISE_POINTER, noise_column, unknown_column
from relevance_bayes.records.errors import Fault
from relevance_bayes.records.values import Missing
from relevance_bayes.tables.columns import MAX_CATEGORIES_LISTED, ColumnSummary, TableSummary
from relevance_bayes.tables.encoding.table import MAX_SCALED

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
    form = None if column.reading is None or column.kind != "number" else column.reading.form
    return InputColumn(column.name, column.kind, categories, form)


def has_effects(column: InputColumn) -> bool:
    """Return whether an input has texts that are encoded by their effects on the target: it has no categories."""
    return column.kind == "category" and not column.categories


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
    if column.reading is not None and column.reading.is_index:
        return "it is the index of a table of pandas"
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


MAX_GAPS_LISTED = 20
MAX_COLUMNS_NAMED = 3


@dataclass(frozen=True)
class MissingTreatment:
    """The treatment of missing values, and the reason for it."""

    treatment: Missing
    reason: str


def resolved_missing(
    requested: Missing | None, needed: Placed, inputs: Placed, *, where_many: str = ""
) -> MissingTreatment:
    """Return the requested treatment; by default "indicator" where one of the columns has a missing value.

    `where_many` is the condition of an indicator, for the reason.

    Rows in which one of `needed` is missing are never trained on. Without a missing value the default is "error", which
    is about training rows alone.
    """
    if requested is not None:
        return MissingTreatment(requested, "The request names it.")
    gaps, absent = ([column for _, column in columns if column.missing] for columns in (inputs, needed))
    reasons = []
    if gaps:
        inputs_with = f"input{'s' if len(gaps) > 1 else ''} {_listed(gaps)} with missing values"
        filled = "the mean, or the shares of its categories, in their place"
        reasons.append(f"{inputs_with}: each has {filled}, and a 0/1 column for them{where_many}")
    if absent:
        reasons.append(f"rows without {_listed(absent)} are left out")
    if not reasons:
        return MissingTreatment("error", "No column has missing values.")
    reason = "; ".join(reasons)
    return MissingTreatment("indicator", f"{reason[0].upper()}{reason[1:]}.")


def required_columns(dataset: TableSummary, request: SupervisedRequest, target: ColumnSummary) -> Placed:
    """Return the columns without which a row can't be trained on: the target, and those of the split and the noise."""
    needed = [("/target", target)]
    if not isinstance(request.split, RandomSplit) and request.split.column is not None:
        splitter = dataset.column(request.split.column)
        needed += [("/split/column", splitter)] if splitter is not None else []
    name = noise_column(request)
    noise = None if name is None else dataset.column(name)
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
