"""Names, inputs, missing values and held-out shares in the plans of all tasks, and the refusal of a request."""

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType

from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.records.jobs import MAX_SEED, MODEL_NAME_PATTERN
from relevance_bayes.records.values import IgnoredColumn, InputColumn, Missing
from relevance_bayes.tables.columns import MAX_CATEGORIES_LISTED, ColumnSummary, TableSummary
from relevance_bayes.tables.encoding.table import MAX_SCALED, quoted

MODEL_NAME = re.compile(MODEL_NAME_PATTERN)


def default_model_name(dataset: str) -> str:
    """Return a model's name from its dataset's without a suffix, `model` where no letter is valid."""
    plain = unicodedata.normalize("NFKD", dataset).encode("ascii", "ignore").decode().lower()
    stem = re.sub(r"\.[a-z]{2,8}$", "", plain)
    name = re.sub(r"[^a-z0-9._]+", "-", stem)
    return re.sub(r"^[^a-z]+", "", name)[:63].rstrip("-._") or "model"


def name_faults(name: str | None) -> list[Fault]:
    """Return the faults of a requested name."""
    if name is None or MODEL_NAME.fullmatch(name):
        return []
    detail = "Expected a lower-case letter, then at most 62 lower-case letters, digits, dots, dashes and underscores"
    return [Fault(f"{detail}; got {quoted(name)}.", "/model")]


def seed_faults(seed: int) -> list[Fault]:
    """Return faults of a seed."""
    if 0 <= seed <= MAX_SEED:
        return []
    return [Fault(f"Expected an integer `seed` from 0 to {MAX_SEED}.", "/seed")]


MAX_NAMED = 20
"""The maximum number of columns or classes that one sentence lists."""

MAX_COMPARED = 200
"""The maximum number of columns, and length of names, for which the nearest name is suggested."""


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


MIN_ROWS_FOR_IDS = 20
"""The minimum number of rows from which a column of distinct values is taken for an id, not a measurement."""

MAX_FAULTS_REPORTED = 20
"""The maximum number of invalid inputs that are reported."""


@dataclass(frozen=True)
class ColumnUse:
    """Another use of a column: why it is no input by default, and why it can't be one that is requested, else None."""

    reason: str
    conflict: str | None = None


NO_USES: Mapping[str, ColumnUse] = MappingProxyType({})

Placed = Sequence[tuple[str, ColumnSummary]]
"""Columns, each with the pointer to its place in the request."""


def chosen_inputs(
    dataset: TableSummary,
    requested: tuple[str, ...] | None,
    *,
    target: str | None = None,
    uses: Mapping[str, ColumnUse] = NO_USES,
    has_effects: bool = False,
) -> tuple[tuple[ColumnSummary, ...], tuple[IgnoredColumn, ...], tuple[Fault, ...]]:
    """Return the input columns, those left out with the reasons, and the faults of the requested ones.

    The column `target` is predicted from them, where there is one; `uses` are those of other columns.
    Texts of many values are inputs where they are encoded by their effects on the target.
    """
    if requested is not None:
        return _named(dataset, requested, target=target, uses=uses, has_effects=has_effects)
    reasons = [
        (
            column,
            uses[column.name].reason if column.name in uses else _unfit(column, dataset.rows, has_effects=has_effects),
        )
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
    uses: Mapping[str, ColumnUse],
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
        elif name in uses and uses[name].conflict is not None:
            wrong = uses[name].conflict
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


def share_faults(dataset: TableSummary, holdout: float, dropping: Sequence[ColumnSummary]) -> list[Fault]:
    """Return faults for shares that leave fewer than two training rows; rows with a missing value in one of `dropping`
    are left out before."""
    if not 0 <= holdout < 1:
        return [Fault(f"Expected a `holdout` from 0 to below 1, got {holdout}.", "/holdout")]
    worst = max(dropping, key=lambda column: column.missing, default=None)
    rows = dataset.rows - (worst.missing if worst else 0)
    if rows < 2 and worst is not None:
        detail = f"Without the rows in which `{worst.name}` is missing fewer than two are left; leave it out."
        return [Fault(detail, "/missing", column=worst.name)]
    kept = rows - held_out_rows(rows, holdout)
    if kept < 2:
        return [Fault(f"Holding out {holdout:g} of {rows} rows leaves {kept}; at least two are needed.", "/holdout")]
    return []


def held_out_rows(rows: int, share: float) -> int:
    """Return the number of `rows` rows that a share in [0, 1) holds out: at least one when it is above 0."""
    return max(1, round(share * rows)) if share > 0 else 0
