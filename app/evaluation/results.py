"""Results of evaluations and promotions."""

import math
from dataclasses import dataclass
from typing import Literal

from app.evaluation.metrics.classes import ClassResult
from app.evaluation.metrics.numbers import NumberResult
from relevance_bayes.records.promotions import Criterion, Improvement


@dataclass(frozen=True)
class Evaluation:
    """The result of an evaluation on a dataset.

    Rows `without_target` have no target to compare with; `rows_not_predicted` have one, but can't be predicted. Neither
    are counted in the `figures`. Of the counted rows, the version was trained on `seen_in_training`; a promotion leaves
    these out of the figures. None where the training rows are unknown: for an imported version, and for one whose
    training dataset was deleted.
    """

    figures: NumberResult | ClassResult
    without_target: int
    rows_not_predicted: int
    seen_in_training: int | None = None
    kind: Literal["evaluation"] = "evaluation"


MIN_ROWS = 30
MIN_GROUPS = 10
"""The least number of rows, and of groups (of equal size) where rows come in groups, for which an alias moves."""


@dataclass(frozen=True)
class Promotion:
    """The outcome: whether the alias `moved`, and the reason.

    `champion` and `improvement` are None where the alias did not exist. `rows_without_challenger_loss` counts the rows
    for which the champion has a loss and the challenger has none: it can't predict for them, or its density at the
    target is 0. `rows_seen_in_training` counts the rows that either was trained on, which are left out of all metrics.
    """

    moved: bool
    reason: str
    challenger: Evaluation
    champion: Evaluation | None = None
    improvement: Improvement | None = None
    rows_without_challenger_loss: int = 0
    rows_seen_in_training: int | None = None
    kind: Literal["promotion"] = "promotion"


def verdict(improvement: Improvement, *, margin: float, by: Criterion, lost_rows: int) -> tuple[bool, str]:
    """Return whether the challenger is better by more than the margin, and the sentence that states the decision.

    A challenger that predicts fewer rows than the champion is not better: the omitted rows may be its worst.
    """
    name = improvement.metric
    if improvement.estimate is None or improvement.champion is None or improvement.challenger is None:
        return False, f"Expected rows for which both versions have a {name}, got none."
    champion, challenger = _distinct(improvement.champion, improvement.challenger)
    figures = f"{name} {champion} -> {challenger}, {_difference(improvement)}"
    if lost_rows:
        return False, f"{figures}, but the challenger has no {name} for {lost_rows:,} rows that the champion predicts."
    if (too_few := _too_few(improvement)) is not None:
        return False, f"{figures}, but {too_few}."
    proved, what = improvement.estimate, "the improvement"
    if by == "interval":
        proved, what = improvement.lower if improvement.lower is not None else -math.inf, "the interval's lower end"
    if proved > margin:
        return True, f"{figures}: {what} is above the margin of {margin:g}."
    return False, f"{figures}: {what} is not above the margin of {margin:g}."


def _distinct(one: float, other: float) -> tuple[str, str]:
    """Return both numbers with as many significant digits as distinguish them, from 4 to 6."""
    digits = next((digits for digits in (4, 5) if f"{one:.{digits}g}" != f"{other:.{digits}g}"), 6)
    return f"{one:#.{digits}g}".rstrip("."), f"{other:#.{digits}g}".rstrip(".")


def _difference(improvement: Improvement) -> str:
    estimate = f"improvement {improvement.estimate:.4g}"
    if improvement.lower is None or improvement.upper is None:
        return estimate
    return f"{estimate} (95 %: {improvement.lower:.4g} to {improvement.upper:.4g})"


def _too_few(improvement: Improvement) -> str | None:
    """Return a clause about too few rows or groups for a comparison; None where there are enough."""
    if improvement.rows < MIN_ROWS:
        return f"{_counted(improvement.rows, 'row')} compared, and at least {MIN_ROWS} are needed"
    groups, effective = improvement.groups, improvement.effective_groups
    if groups is not None and effective is not None and effective < MIN_GROUPS:
        size = "" if effective == groups else f", as good as {effective:.1f} of equal size"
        return f"{_counted(groups, 'group')} compared{size}, and at least {MIN_GROUPS} are needed"
    return None


def _counted(number: int, what: str) -> str:
    return f"only 1 {what} was" if number == 1 else f"only {number} {what}s were"
