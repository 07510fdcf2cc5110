"""Validation of the training rows: missing values, groups, held-out rows and folds."""

from collections.abc import Sequence

from relevance_bayes.plans.inputs import Placed, is_constant
from relevance_bayes.plans.missing import gap_faults
from relevance_bayes.plans.requests import (
    MAX_FOLDS,
    MIN_FOLDS,
    GroupSplit,
    OrderSplit,
    RandomSplit,
    Split,
    SupervisedRequest,
)
from relevance_bayes.plans.split import held_out_rows
from relevance_bayes.plans.target import unknown_column
from relevance_bayes.tables.columns import ColumnSummary, TableSummary
from relevance_bayes.types.errors import Fault
from relevance_bayes.types.values import Missing


def split_faults(dataset: TableSummary, split: Split, *, target: str) -> list[Fault]:
    """Return the faults of a split's column."""
    if isinstance(split, RandomSplit) or split.column is None:
        return []
    name = split.column
    column = dataset.column(name)
    if column is None:
        wrong = unknown_column(dataset, name)
    elif name == target:
        wrong = f"`{name}` is the target, so it can't be the split's column."
    elif isinstance(split, OrderSplit) and column.kind not in {"number", "timestamp"}:
        kind = "texts" if column.kind == "category" else "true and false"
        wrong = f"`{name}` has {kind}; rows can be ordered only by numbers or timestamps."
    elif is_constant(column) or column.missing == dataset.rows:
        wrong = f"`{name}` is the same in every row, so it can't divide rows."
    else:
        return []
    return [Fault(wrong, "/split/column", column=name)]


def row_faults(
    dataset: TableSummary, request: SupervisedRequest, missing: Missing, needed: Placed, inputs: Placed
) -> list[Fault]:
    """Return faults for missing values that are refused, and too few rows.

    `needed` and `inputs` are pointers and columns; rows without one of those needed are left out.
    """
    gaps = gap_faults(dataset, [*needed, *inputs]) if missing == "error" else []
    dropped_by = {"error": [], "drop_rows": [*needed, *inputs], "indicator": needed}[missing]
    dropping = [column for _, column in dropped_by]
    shares = share_faults(dataset, request.holdout, dropping)
    return [*gaps, *(shares or _fold_faults(dataset, request, dropping))]


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


def _fold_faults(dataset: TableSummary, request: SupervisedRequest, dropping: Sequence[ColumnSummary]) -> list[Fault]:
    """Return faults for too few or too many folds, or more than rows or groups; the held-out share is valid."""
    if request.validation is None:
        return []
    folds = request.validation.folds
    if not MIN_FOLDS <= folds <= MAX_FOLDS:
        detail = f"Expected from {MIN_FOLDS} to {MAX_FOLDS} folds, got {folds}."
        return [Fault(detail, "/validation/folds")]
    rows = dataset.rows - max((column.missing for column in dropping), default=0)
    rows -= held_out_rows(rows, request.holdout)
    needed = folds + 1 if isinstance(request.split, OrderSplit) else folds
    if rows < needed:
        detail = f"{folds} folds need at least {needed} rows to train on, and there are {rows}; use fewer folds."
        return [Fault(detail, "/validation/folds")]
    if not isinstance(request.split, GroupSplit):
        return []
    column = dataset.column(request.split.column)
    if column is None or column.distinct is None:
        return []
    groups = column.distinct - (1 if request.holdout > 0 else 0)
    if groups >= folds:
        return []
    left = "are left to train on" if request.holdout > 0 else "are there"
    detail = f"{folds} folds need as many groups of `{column.name}`, and at most {groups} {left}; use fewer folds."
    return [Fault(detail, "/validation/folds", column=column.name)]
